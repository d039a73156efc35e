// `haichi-gasfs ask`, `check` and `btio`: what needs no mount.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/unguessable.h"
#include "gasfs/plan/btio.h"
#include "gasfs/run/commands.h"
#include "gasfs/run/daemon.h"
#include "gasfs/store/check.h"
#include "gasfs/wire/hello.h"
#include "gasfs/wire/messages.h"
#include "gasfs/wire/sockets.h"
#include "gasfs/wire/stream.h"

namespace haichi::gasfs::run {
namespace {

constexpr int kPatienceMs = 5000;

void print(const nlohmann::json& json) { std::puts(json.dump().c_str()); }

Result<std::string> ask_status(const std::string& server, const std::string& secret_file) {
  const auto address = parse_address(server);
  if (!address) return tl::unexpected(address.error());
  const auto secret = read_secret(secret_file);
  if (!secret) return tl::unexpected(secret.error());
  const auto fd = connect_to(*address, kPatienceMs);
  if (!fd) return tl::unexpected(fd.error());
  bound_waiting(fd->get(), kPatienceMs);
  if (auto met = introduce(fd->get(), *secret, unguessable_number()); !met)
    return tl::unexpected(met.error());
  if (auto sent = send_frame(fd->get(), Kind::status, 1, {}); !sent)
    return tl::unexpected(sent.error());
  FrameReader reader;
  const auto whole = reader.fill(fd->get());
  if (!whole) return tl::unexpected(whole.error());
  if (!*whole) return fail(ETIMEDOUT, "server {} does not answer", server);
  const Frame frame = reader.take();
  const auto reply = unpack_reply(frame.body.span());
  if (!reply || reply->error != 0) return fail(EPROTO, "server {} gives no state", server);
  return std::string(reinterpret_cast<const char*>(reply->rest.data()), reply->rest.size());
}

int check_stores(const std::vector<std::string>& folders, bool repairs) {
  std::vector<std::unique_ptr<Store>> stores;
  for (uint32_t i = 0; i < folders.size(); ++i) {
    auto store = Store::open(folders[i], {i, static_cast<uint32_t>(folders.size())});
    if (!store) return refuse(kBadInput, store.error().text);
    stores.push_back(std::move(*store));
  }
  const auto report = check(stores);
  if (!report) return refuse(kFailed, report.error().text);
  if (repairs)
    if (auto done = repair(stores, *report); !done) return refuse(kFailed, done.error().text);
  print({{"schema", "haichi.gasfs-check/1"},
         {"files", report->files},
         {"objects", report->objects},
         {"left_over", report->left_over.size()},
         {"stale", report->stale.size()},
         {"problems", report->problems}});
  return report->problems.empty() ? 0 : kFailed;
}

struct BtioOptions {
  std::string size = "A";
  uint32_t nodes = 4, per_node = 4, servers = 1;
  uint64_t stripe = Layout{}.stripe;
  bool cyclic = false;
};

int count(const BtioOptions& options) {
  const auto size = btio_class(options.size);
  if (!size) return refuse(kBadInput, "no class '" + options.size + "': S, W, A, B, C or D");
  const BtioJob job{*size, options.nodes, options.per_node, !options.cyclic};
  if (auto sound = check(job); !sound) return refuse(kBadInput, sound.error().text);
  const Layout layout{options.stripe, options.servers, 0};
  nlohmann::json json{{"schema", "haichi.gasfs-btio/1"},
                      {"class", options.size},
                      {"nodes", options.nodes},
                      {"per_node", options.per_node},
                      {"ranks", options.cyclic ? "cyclic" : "blocks"},
                      {"stripe", options.stripe},
                      {"servers", options.servers}};
  for (const auto& [name, gathering] :
       {std::pair("unarranged", Gathering::none), std::pair("snapshot", Gathering::snapshot),
        std::pair("whole", Gathering::whole)}) {
    const RequestCounts counts = count_btio(job, layout, gathering);
    json["records"] = counts.records;
    json[name] = {{"requests", counts.requests}, {"seeks", counts.seeks}};
  }
  print(json);
  return 0;
}

}  // namespace

void add_ask(CLI::App& app, int& code) {
  auto server = std::make_shared<std::string>(), secret = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("ask", "Print the state of a server.");
  command->add_option("--server", *server, "HOST:PORT.")->required();
  command->add_option("--secret", *secret, "File with the job's secret.")->required();
  command->callback([server, secret, &code] {
    const auto text = ask_status(*server, *secret);
    code = text ? 0 : refuse(kFailed, text.error().text);
    if (text) std::puts(text->c_str());
  });
}

void add_check(CLI::App& app, int& code) {
  auto folders = std::make_shared<std::vector<std::string>>();
  auto repairs = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("check", "Look whether stores are sound.");
  command->add_option("store", *folders, "The stores, in their order.")->required();
  command->add_flag("--repair", *repairs, "Remove what is left over, write anew what is stale.");
  command->callback([folders, repairs, &code] { code = check_stores(*folders, *repairs); });
}

void add_btio(CLI::App& app, int& code) {
  auto options = std::make_shared<BtioOptions>();
  CLI::App* command = app.add_subcommand("btio", "Count what BTIO's requests come to.");
  command->add_option("--class", options->size, "S, W, A, B, C or D.");
  command->add_option("--nodes", options->nodes);
  command->add_option("--per-node", options->per_node);
  command->add_option("--servers", options->servers)->check(CLI::Range(1, 4096));
  command->add_option("--stripe", options->stripe)->check(CLI::Range(1, 1 << 30));
  command->add_flag("--cyclic", options->cyclic, "Ranks dealt out over the nodes.");
  command->callback([options, &code] { code = count(*options); });
}

}  // namespace haichi::gasfs::run
