// `haichi-gasfs dispatcher`.
#include <poll.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>

#include "gasfs/arena/service.h"
#include "gasfs/dispatcher/dispatcher.h"
#include "gasfs/dispatcher/holding.h"
#include "gasfs/fuse/mount.h"
#include "gasfs/run/commands.h"
#include "gasfs/run/daemon.h"

namespace haichi::gasfs::run {
namespace {

struct Options {
  std::vector<std::string> servers;
  std::string secret;
  std::string mount;
  std::string announce;
  std::string trace;
  uint64_t most_traced = 1'000'000;
  DispatcherOptions what;
  bool as_they_come = false;
  unsigned seconds = 0;
};

/// A folder for the socket of preloaded programs, as long as this lives.
class OwnFolder {
 public:
  OwnFolder() {
    std::string pattern = "/tmp/haichi-gasfs-XXXXXX";
    if (::mkdtemp(pattern.data())) path_ = pattern;
  }
  ~OwnFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

int dispatch(Options options) {
  const auto ends = end_descriptor(options.seconds);
  if (!ends) return refuse(kFailed, ends.error().text);
  const auto secret = read_secret(options.secret);
  if (!secret) return refuse(kBadInput, secret.error().text);
  options.what.secret = *secret;
  options.what.arrange = !options.as_they_come;
  options.what.job = std::filesystem::absolute(options.secret).parent_path();
  for (const std::string& text : options.servers) {
    auto address = parse_address(text);
    if (!address) return refuse(kBadInput, address.error().text);
    options.what.servers.push_back(std::move(*address));
  }
  if (!options.trace.empty()) {
    auto trace = Trace::open(options.trace, options.most_traced);
    if (!trace) return refuse(kBadInput, trace.error().text);
    options.what.trace = std::move(*trace);
  }
  Dispatcher dispatcher(options.what);
  if (auto begun = dispatcher.begin(); !begun) return refuse(kFailed, begun.error().text);
  const OwnFolder folder;  // which nobody else may enter
  {
    const auto arenas = arena::Service::make(dispatcher, folder.path() + "/arenas");
    if (!arenas) return refuse(kFailed, arenas.error().text);
    const auto mount = fuse::Mount::make(options.mount, dispatcher, arenas->get());
    if (!mount) return refuse(kFailed, mount.error().text);
    Holding holding(dispatcher);
    const auto node = holding.listen();
    if (!node) return refuse(kFailed, node.error().text);
    if (auto told = announce(options.announce, options.mount, to_text(*node)); !told)
      return refuse(kFailed, told.error().text);
    pollfd wait{ends->get(), POLLIN, 0};
    while (::poll(&wait, 1, -1) < 0) continue;
  }
  return tell_end(options.announce, dispatcher.finish());
}

}  // namespace

void add_dispatcher(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  DispatcherOptions& what = options->what;
  CLI::App* command = app.add_subcommand("dispatcher", "Offer the files on this node.");
  command->add_option("--server", options->servers, "HOST:PORT of each server, in their order.")
      ->required();
  command->add_option("--secret", options->secret, "File with the job's secret.")->required();
  command->add_option("--mount", options->mount, "Folder on which the files are seen.")->required();
  command->add_option("--announce", options->announce, "File that tells that the mount is there.");
  command->add_flag("--unarranged", options->as_they_come, "Send requests as they come.");
  command->add_flag("--durable-close", what.durable_close, "close(2) waits for the disks.");
  command
      ->add_option("--sub-buffer", what.sub_buffer, "Bytes of a file that are gathered at first.")
      ->check(CLI::Range(uint64_t{4096}, uint64_t{1} << 32));
  command->add_option("--memory", what.memory, "Bytes of all files that are not yet at servers.")
      ->check(CLI::Range(uint64_t{1} << 20, uint64_t{1} << 40));
  command->add_option("--cache", what.cache, "Bytes that are kept of what was read; 0: none.")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 40));
  command->add_option("--pinned", what.pinned, "Bytes of files that are held whole.")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 40));
  command->add_option("--linger-ms", what.linger_ms, "What is gathered goes after so long.")
      ->check(CLI::Range(1, 3'600'000));
  command->add_option("--patience-ms", what.patience_ms, "A server that is silent is given up.")
      ->check(CLI::Range(100, 3'600'000));
  command->add_option("--trace", options->trace, "File that has each request, before and after.");
  command->add_option("--most-traced", options->most_traced, "Requests that it has at most.");
  command->add_option("--for", options->seconds, "Seconds after which it ends.");
  command->callback([options, &code] { code = dispatch(*options); });
}

}  // namespace haichi::gasfs::run
