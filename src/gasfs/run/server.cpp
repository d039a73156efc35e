// `haichi-gasfs server`.
#include <memory>

#include "gasfs/run/commands.h"
#include "gasfs/run/daemon.h"
#include "gasfs/server/server.h"

namespace haichi::gasfs::run {
namespace {

struct Options {
  std::string store;
  std::string secret;
  std::string listen = "127.0.0.1:0";
  std::string announce;
  StoreOptions what;
  ServiceOptions service;
  unsigned seconds = 0;
};

int serve(const Options& options) {
  const auto ends = end_descriptor(options.seconds);
  if (!ends) return refuse(kFailed, ends.error().text);
  const auto secret = read_secret(options.secret);
  if (!secret) return refuse(kBadInput, secret.error().text);
  auto address = parse_address(options.listen);
  if (!address) return refuse(kBadInput, address.error().text);
  if (options.what.index >= options.what.servers)
    return refuse(kBadInput, fmt::format("server {} of {}: the first is 0", options.what.index,
                                         options.what.servers));
  auto store = Store::open(options.store, options.what);
  if (!store) return refuse(kFailed, store.error().text);
  auto server = Server::open(std::move(*store), *secret, *address, options.service);
  if (!server) return refuse(kFailed, server.error().text);
  if (auto told = announce(options.announce, to_text(*address)); !told)
    return refuse(kFailed, told.error().text);
  return tell_end(options.announce, (*server)->run(ends->get()));
}

}  // namespace

void add_server(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("server", "Keep what the dispatchers send.");
  command->add_option("--store", options->store, "Folder of its files.")->required();
  command->add_option("--secret", options->secret, "File with the job's secret.")->required();
  command->add_option("--listen", options->listen, "HOST:PORT; port 0 takes a free one.");
  command->add_option("--announce", options->announce,
                      "File that tells the address, once it is there.");
  command->add_option("--index", options->what.index, "Which of the servers; 0 has the names.");
  command->add_option("--servers", options->what.servers, "How many there are.")
      ->check(CLI::Range(1, 4096));
  command->add_option("--stripe", options->what.stripe, "Bytes of a stripe of new files.")
      ->check(CLI::Range(uint64_t{4096}, uint64_t{kMostPayload}));
  command
      ->add_option("--gather-us", options->service.gather_us,
                   "Microseconds that a write waits for those of other nodes beside it.")
      ->check(CLI::Range(0, 1'000'000));
  command->add_flag("--durable", options->what.durable, "Names are on the disk before an answer.");
  command->add_option("--for", options->seconds, "Seconds after which it ends.");
  command->callback([options, &code] { code = serve(*options); });
}

}  // namespace haichi::gasfs::run
