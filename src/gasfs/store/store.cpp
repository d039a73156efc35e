#include "gasfs/store/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/unguessable.h"

namespace haichi::gasfs {
namespace {

constexpr const char* kForm = "haichi.gasfs-store/1";
constexpr int kPatienceMs = 1000;

/// The number of the store that `path` describes, which must be of these options.
Result<uint64_t> read_description(const std::string& path, const StoreOptions& options) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (json.is_discarded() || json.value("schema", "") != kForm || !json.contains("store") ||
      !json["store"].is_number_unsigned())
    return fail(EINVAL, "{} does not describe a store of this version", path);
  const auto index = json.value("index", uint32_t{0}), servers = json.value("servers", uint32_t{0});
  if (index != options.index || servers != options.servers)
    return fail(EINVAL,
                "{} is the store of server {} of {}, not of server {} of {}: name the "
                "folder that is its own",
                path, index, servers, options.index, options.servers);
  return json["store"].get<uint64_t>();
}

Result<uint64_t> describe(const std::string& path, const StoreOptions& options) {
  const auto known = read_description(path, options);
  if (known || known.error().code != ENOENT) return known;
  const uint64_t id = unguessable_number();
  const nlohmann::json json{
      {"schema", kForm}, {"store", id}, {"index", options.index}, {"servers", options.servers}};
  if (auto written = write_file_atomically(path, json.dump(1) + "\n"); !written)
    return tl::unexpected(written.error());
  return id;
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& folder, const StoreOptions& options) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(errno, "cannot make the store {}: {}", folder, std::strerror(errno));
  auto lock = FolderLock::take(folder, kPatienceMs);
  if (!lock && lock.error().code == ETIMEDOUT)
    return fail(EBUSY, "another server has the store {}: stop it first", folder);
  if (!lock) return tl::unexpected(lock.error());
  Descriptor root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return fail(errno, "cannot open the store {}: {}", folder, std::strerror(errno));
  std::unique_ptr<Store> made(new Store(std::move(*lock), options, std::move(root)));
  const auto id = describe(folder + "/store.json", options);
  if (!id) return tl::unexpected(id.error());
  made->id_ = *id;
  auto objects = Objects::open(folder + "/objects");
  if (!objects) return tl::unexpected(objects.error());
  made->objects_ = std::move(*objects);
  if (options.index == 0) {
    auto names = Names::open(folder + "/names", {options.durable, options.servers, options.stripe});
    if (!names) return tl::unexpected(names.error());
    made->names_ = std::move(*names);
  }
  return made;
}

Done Store::sync() {
  if (names_)
    if (auto synced = names_->sync(); !synced) return synced;
  if (::syncfs(root_.get()) != 0) return tl::unexpected(errno);
  return {};
}

}  // namespace haichi::gasfs
