#include "launch/preload.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <vector>

#include "generated/build_mark.h"
#include "launch/elf.h"
#include "launch/paths.h"

namespace haichi::launch {
namespace {

constexpr std::string_view kSeparators = ": ";

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> entries;
  while (!list.empty()) {
    const size_t end = list.find_first_of(kSeparators);
    if (end != 0) entries.push_back(list.substr(0, end));
    list.remove_prefix(end == list.npos ? list.size() : end + 1);
  }
  return entries;
}

std::string join(const std::vector<std::string_view>& entries) {
  std::string list;
  for (const std::string_view entry : entries) list.append(list.empty() ? "" : ":").append(entry);
  return list;
}

// Between "libhaichi-" and the name of the ABI.
constexpr std::string_view kShim = "", kRecorder = "record-";

std::string file_of(std::string_view kind, Abi abi) {
  return fmt::format("libhaichi-{}{}.so", kind, abi_name(abi));
}

bool is_shim(std::string_view entry) {
  for (const Abi abi : kAbis)
    for (const std::string_view kind : {kShim, kRecorder})
      if (file_name(entry) == file_of(kind, abi)) return true;
  return false;
}

bool is_sanitizer(std::string_view entry) {
  for (const std::string_view stem : {"libasan.so", "libtsan.so", "libclang_rt."})
    if (file_name(entry).starts_with(stem)) return true;
  return false;
}

constexpr std::string_view kPosix = "libhaichi-posix.so";

/// A file of ../lib that can be preloaded; `missing` says what is not there if it isn't.
Result<std::string> find_object(const std::string& file, const std::string& bin,
                                const std::string& missing) {
  const std::string path = fmt::format("{}/../lib/{}", bin, file);
  char real[4096];
  if (!realpath(path.c_str(), real) || access(real, R_OK) != 0)
    return fail(ELIBACC, "{}: {} is not there; `./haichi build` makes it", missing, path);
  const std::string found(real);
  if (found.find_first_of(kSeparators) != found.npos)
    return fail(EINVAL,
                "{}: LD_PRELOAD takes no path with a blank or a colon; install haichi "
                "elsewhere",
                found);
  return found;
}

Result<std::string> find(std::string_view kind, const char* called, Abi abi,
                         const std::string& bin) {
  return find_object(file_of(kind, abi), bin, fmt::format("no {} for {}", called, abi_name(abi)));
}

}  // namespace

Result<std::string> find_shim(Abi abi, const std::string& bin) {
  return find(kShim, "shim", abi, bin);
}

Result<std::string> find_recorder(Abi abi, const std::string& bin) {
  return find(kRecorder, "recorder", abi, bin);
}

Result<std::string> find_posix(const std::string& bin) {
  return find_object(std::string(kPosix), bin, "nothing that splits reads");
}

bool is_of_this_build(const std::string& object) {
  const auto file = ElfFile::open(object);
  return file && file->defines(HAICHI_BUILD_MARK_NAME);
}

std::string without_shims(std::string_view before) {
  auto entries = split(before);
  std::erase_if(entries, is_shim);
  return join(entries);
}

std::string with_shims(std::string_view before, const std::vector<std::string>& shims) {
  auto entries = split(before);
  std::erase_if(entries, [&](std::string_view entry) {
    return is_shim(entry) || std::find(shims.begin(), shims.end(), entry) != shims.end();
  });
  size_t place = 0;
  for (size_t i = 0; i < entries.size(); ++i)
    if (is_sanitizer(entries[i])) place = i + 1;
  entries.insert(entries.begin() + std::ptrdiff_t(place), shims.begin(), shims.end());
  return join(entries);
}

}  // namespace haichi::launch
