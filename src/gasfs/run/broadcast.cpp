// `haichi-gasfs broadcast`: has all nodes hold files whole, each fetched from the node before it.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/unguessable.h"
#include "gasfs/dispatcher/link.h"
#include "gasfs/run/commands.h"
#include "gasfs/run/daemon.h"
#include "gasfs/wire/hold_messages.h"
#include "gasfs/wire/messages.h"

namespace haichi::gasfs::run {
namespace {

using std::chrono::milliseconds;

/// A node that does not answer for so long is left out.
constexpr int kSilentMs = 3000;
/// How many nodes before it each one may fetch from.
constexpr size_t kMostBefore = 4;
constexpr milliseconds kFirstLook{2}, kLastLook{100};

struct Options {
  std::string secret;
  std::vector<std::string> nodes;
  std::vector<Inode> inodes;
  bool let_go = false;
  double patience = 60;  // seconds without a byte
};

/// A node of the row.
struct Node {
  std::string name;
  Address address;
  std::unique_ptr<Link> link{};
  bool lost = false;
  HeldMessage told{};
  int64_t moved_ns = 0;  // when the last byte came

  void lose(const std::string& why) {
    lost = true;
    told.state = HeldMessage::State::failed;
    told.trouble = why;
  }
};

Result<std::vector<Node>> nodes_of(const Options& options, const Secret& secret) {
  std::vector<Node> nodes;
  for (const std::string& text : options.nodes) {
    const size_t sign = text.find('=');
    const auto address = parse_address(sign == std::string::npos ? "" : text.substr(sign + 1));
    if (!address) return fail(EINVAL, "'{}' is no node: give NAME=HOST:PORT", text);
    Node node{text.substr(0, sign), *address};
    const LinkOptions link{.address = *address,
                           .secret = secret,
                           .session = unguessable_number(),
                           .name = node.name,
                           .patience_ms = kSilentMs};
    node.link = std::make_unique<Link>(link, [] { return std::vector<Outgoing>(); });
    nodes.push_back(std::move(node));
  }
  return nodes;
}

/// Those that do not answer are lost; all are asked at once.
void find_lost(std::vector<Node>& nodes) {
  std::vector<std::thread> asking;
  for (Node& node : nodes)
    asking.emplace_back([&node] {
      const auto answer = node.link->ask(Outgoing(Kind::status, size_t{0}));
      if (!answer) node.lose("it does not answer");
    });
  for (std::thread& thread : asking) thread.join();
}

void ask(Node& node, Kind kind, Inode inode) {
  const auto answer = node.link->ask(Outgoing(kind, pack_object({inode})));
  const auto told = answer ? unpack_held(*answer) : Result<HeldMessage>(fail(EIO, "silent"));
  if (!told) return node.lose("it does not answer any more");
  if (told->bytes != node.told.bytes || node.moved_ns == 0) node.moved_ns = now_ns();
  node.told = *told;
}

void begin(std::vector<Node>& nodes, Inode inode) {
  std::vector<Address> before;
  for (Node& node : nodes) {
    if (node.lost) continue;
    node.told = {.state = HeldMessage::State::coming};
    node.moved_ns = 0;
    const auto begun = node.link->ask(Outgoing(Kind::hold, pack_hold({inode, before})));
    if (!begun) {
      node.told.state = HeldMessage::State::failed;
      node.told.trouble = std::strerror(begun.error());
      if (begun.error() == ETIMEDOUT) node.lose("it does not answer any more");
      continue;
    }
    before.insert(before.begin(), node.address);
    if (before.size() > kMostBefore) before.pop_back();
  }
}

/// Until each holds it, or does not come on.
void wait(std::vector<Node>& nodes, Inode inode, double patience) {
  bool coming = true;
  for (milliseconds look = kFirstLook; coming; look = std::min(2 * look, kLastLook)) {
    std::this_thread::sleep_for(look);
    coming = false;
    for (Node& node : nodes) {
      if (node.lost || node.told.state != HeldMessage::State::coming) continue;
      ask(node, Kind::held, inode);
      if (node.told.state != HeldMessage::State::coming) continue;
      coming = true;
      if (static_cast<double>(now_ns() - node.moved_ns) > patience * 1e9)
        node.lose(fmt::format("nothing has come to it for {} s", patience));
    }
  }
}

nlohmann::json told_of(const std::vector<Node>& nodes, Inode inode) {
  constexpr const char* kStates[] = {"none", "coming", "held", "failed"};
  nlohmann::json all = nlohmann::json::array();
  for (const Node& node : nodes)
    all.push_back({{"node", node.name},
                   {"state", kStates[static_cast<int>(node.told.state)]},
                   {"bytes", node.told.bytes},
                   {"by_node", node.told.by_node},
                   {"trouble", node.told.trouble}});
  return {{"inode", inode}, {"nodes", all}};
}

int broadcast(const Options& options) {
  const auto secret = read_secret(options.secret);
  if (!secret) return refuse(kBadInput, secret.error().text);
  auto nodes = nodes_of(options, *secret);
  if (!nodes) return refuse(kBadInput, nodes.error().text);
  find_lost(*nodes);
  nlohmann::json files = nlohmann::json::array();
  for (const Inode inode : options.inodes) {
    if (options.let_go) {
      for (Node& node : *nodes)
        if (!node.lost) ask(node, Kind::let_go, inode);
    } else {
      begin(*nodes, inode);
      wait(*nodes, inode, options.patience);
    }
    files.push_back(told_of(*nodes, inode));
  }
  std::puts(
      nlohmann::json{{"schema", "haichi.gasfs-broadcast/1"}, {"files", files}}.dump().c_str());
  return 0;
}

}  // namespace

void add_broadcast(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("broadcast", "Have all nodes hold files whole.");
  command->add_option("--secret", options->secret, "File with the job's secret.")->required();
  command->add_option("--node", options->nodes, "NAME=HOST:PORT of each dispatcher, in a row.")
      ->required();
  command->add_option("--inode", options->inodes, "The files' inode numbers.")->required();
  command->add_flag("--let-go", options->let_go, "Hold them no more.");
  command->add_option("--patience", options->patience, "Seconds that a node may stand still.")
      ->check(CLI::Range(0.1, 1e6));
  command->callback([options, &code] { code = broadcast(*options); });
}

}  // namespace haichi::gasfs::run
