// Task maps (Flux RFC 34) and PMI process mappings: both list blocks of nodes in rank order.
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "placement/formats.h"
#include "placement/scanner.h"

namespace haichi::placement {
namespace {

// `nodes` nodes from `first` on get `per_node` ranks each, and this `repeat` times over.
struct Block {
  int first, nodes, per_node, repeat;
};

bool same_nodes(const Block& a, const Block& b) {
  return a.first == b.first && a.nodes == b.nodes && a.per_node == b.per_node;
}

// The blocks of a placement: runs of ranks on one node, joined where the next node has as many,
// and then counted where the same block comes again.
std::vector<Block> blocks_of(const Placement& placement) {
  std::vector<Block> blocks;
  auto close_last = [&] {  // no node will join the last block any more
    if (blocks.size() < 2 || !same_nodes(blocks[blocks.size() - 2], blocks.back())) return;
    blocks.pop_back();
    ++blocks.back().repeat;
  };
  for (int rank = 0; rank < placement.ranks();) {
    const int node = placement.node_of(rank), begin = rank;
    while (rank < placement.ranks() && placement.node_of(rank) == node) ++rank;
    const int run = rank - begin;
    if (!blocks.empty()) {
      Block& last = blocks.back();
      if (last.repeat == 1 && last.first + last.nodes == node && last.per_node == run) {
        ++last.nodes;
        continue;
      }
      close_last();
    }
    blocks.push_back({node, 1, run, 1});
  }
  close_last();
  return blocks;
}

// Adds the ranks of a block, at most up to `limit` ranks in all.
void add_ranks(const Block& block, int limit, std::vector<int>& node_of_rank) {
  const auto full = [&] { return node_of_rank.size() >= size_t(limit); };
  for (int i = 0; i < block.repeat && !full(); ++i)
    for (int node = 0; node < block.nodes && !full(); ++node)
      for (int j = 0; j < block.per_node && !full(); ++j)
        node_of_rank.push_back(block.first + node);
}

int64_t ranks_in(const Block& block) {  // saturated: three ints can multiply to 93 bits
  const int64_t once = int64_t{block.nodes} * block.per_node;
  return once > kMaxRanks ? once : once * block.repeat;
}

constexpr const char* kTaskmapForm =
    "write a block as [first node, nodes, ranks per node, repeat], four whole numbers";

Result<Block> read_block(const nlohmann::json& entry, size_t index) {
  auto refuse = [&](const char* why) {
    return fail(EINVAL, "map[{}] is {}, {}; {}", index, shown(entry), why, kTaskmapForm);
  };
  if (!entry.is_array()) return refuse("not an array");
  if (entry.size() != 4) return refuse("not four numbers");
  int value[4];
  for (size_t i = 0; i < 4; ++i) {
    const auto number = whole_number(entry[i]);
    if (!number) return refuse("not four whole numbers");
    if (*number < (i == 0 ? 0 : 1)) return refuse(i == 0 ? "a node before 0" : "less than one");
    value[i] = *number;
  }
  if (value[0] > INT32_MAX - value[1]) return refuse("too many nodes");
  return Block{value[0], value[1], value[2], value[3]};
}

Result<std::vector<int>> read_map(const nlohmann::json& map) {
  if (!map.is_array())
    return fail(EINVAL, "\"map\" is {}, not an array of blocks; {}", shown(map), kTaskmapForm);
  if (map.empty())
    return fail(EINVAL, "the task map is empty, which means that nobody knows; {}", kTaskmapForm);
  std::vector<int> node_of_rank;
  for (size_t i = 0; i < map.size(); ++i) {
    const auto block = read_block(map[i], i);
    if (!block) return tl::unexpected(block.error());
    if (int64_t(node_of_rank.size()) + ranks_in(*block) > kMaxRanks)
      return fail(EINVAL, "map[{}] brings the ranks to more than {}", i, kMaxRanks);
    add_ranks(*block, kMaxRanks, node_of_rank);
  }
  return node_of_rank;
}

constexpr const char* kPmiForm = "write (vector,(first node,nodes,ranks per node),...)";

// Reads "(first,nodes,per_node)" or a bare "first".
Result<Block> read_pmi_block(Scanner& scan) {
  Block block = {0, 1, 1, 1};
  scan.skip_blanks();
  const bool triple = scan.take("(");
  int* const fields[] = {&block.first, &block.nodes, &block.per_node};
  const char* const names[] = {"a node", "a number of nodes", "a number of ranks per node"};
  for (int i = 0; i < (triple ? 3 : 1); ++i) {
    scan.skip_blanks();
    if (i > 0 && !scan.take(",")) return scan.unexpected("','");
    scan.skip_blanks();
    const size_t position = scan.position();
    const auto number = scan.number(names[i], kMaxRanks);
    if (!number) return tl::unexpected(number.error());
    if (i > 0 && *number == 0)
      return fail(EINVAL, "{} at character {} is 0, not 1 or more", names[i], position);
    *fields[i] = *number;
  }
  scan.skip_blanks();
  if (triple && !scan.take(")")) return scan.unexpected("')'");
  return block;
}

// Reads "[block,...]xN" behind its first bracket and appends the blocks N times over,
// or until there are `limit`: each is at least one rank.
Status read_pmi_repeat(Scanner& scan, size_t limit, std::vector<Block>& blocks) {
  const size_t begin = blocks.size();
  do {
    const auto block = read_pmi_block(scan);
    if (!block) return tl::unexpected(block.error());
    blocks.push_back(*block);
    scan.skip_blanks();
  } while (scan.take(","));
  if (!scan.take("]x")) return scan.unexpected("']x' and how often");
  const size_t position = scan.position();
  const auto repeat = scan.number("a number of repeats", kMaxRanks);
  if (!repeat) return tl::unexpected(repeat.error());
  const size_t length = blocks.size() - begin;
  if (*repeat == 0) return fail(EINVAL, "the repeat at character {} is 0", position);
  for (int i = 1; i < *repeat && blocks.size() < limit; ++i)
    for (size_t j = 0; j < length; ++j) blocks.push_back(blocks[begin + j]);
  return {};
}

Result<std::vector<Block>> read_pmi(std::string_view text, int ranks) {
  Scanner scan(text);
  std::vector<Block> blocks;
  scan.skip_blanks();
  if (!scan.take("(")) return scan.unexpected("'('");
  scan.skip_blanks();
  if (!scan.take("vector")) return scan.unexpected("'vector'");
  scan.skip_blanks();
  while (scan.take(",")) {
    scan.skip_blanks();
    if (scan.take("[")) {
      if (auto done = read_pmi_repeat(scan, size_t(ranks), blocks); !done)
        return tl::unexpected(done.error());
    } else {
      const auto block = read_pmi_block(scan);
      if (!block) return tl::unexpected(block.error());
      blocks.push_back(*block);
    }
    scan.skip_blanks();
  }
  if (!scan.take(")")) return scan.unexpected("',' or ')'");
  scan.skip_blanks();
  if (!scan.at_end()) return scan.unexpected("the end");
  if (blocks.empty()) return fail(EINVAL, "the vector is empty");
  return blocks;
}

}  // namespace

std::string to_taskmap(const Placement& placement) {
  std::string text = R"({"version":1,"map":[)";
  const char* separator = "";
  for (const Block& b : blocks_of(placement)) {
    fmt::format_to(std::back_inserter(text), "{}[{},{},{},{}]", separator, b.first, b.nodes,
                   b.per_node, b.repeat);
    separator = ",";
  }
  return text + "]}";
}

Result<Placement> from_taskmap(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return fail(EINVAL, "task map: {}", json.error().text);
  const nlohmann::json* map = &*json;
  if (json->is_object()) {
    const auto version = json->find("version"), found = json->find("map");
    if (version == json->end() || found == json->end())
      return fail(EINVAL, "task map: \"{}\" is missing; write {{\"version\":1,\"map\":[...]}}",
                  version == json->end() ? "version" : "map");
    if (whole_number(*version).value_or(0) != 1)
      return fail(EINVAL, "task map: \"version\" is {}; only version 1 (RFC 34) is known",
                  shown(*version));
    map = &*found;
  }
  const auto node_of_rank = read_map(*map);
  if (!node_of_rank) return fail(EINVAL, "task map: {}", node_of_rank.error().text);
  return Placement(*node_of_rank);
}

std::string to_pmi_mapping(const Placement& placement) {
  std::string text = "(vector";
  for (const Block& b : blocks_of(placement))
    for (int i = 0; i < b.repeat; ++i)
      fmt::format_to(std::back_inserter(text), ",({},{},{})", b.first, b.nodes, b.per_node);
  return text + ")";
}

Result<Placement> from_pmi_mapping(std::string_view text, int ranks) {
  if (ranks < 1 || ranks > kMaxRanks)
    return fail(EINVAL, "PMI mapping: {} ranks, not 1 to {}", ranks, kMaxRanks);
  const auto blocks = read_pmi(text, ranks);
  if (!blocks) return fail(EINVAL, "PMI mapping: {}; {}", blocks.error().text, kPmiForm);
  std::vector<int> node_of_rank;
  node_of_rank.reserve(size_t(ranks));
  while (node_of_rank.size() < size_t(ranks))
    for (const Block& block : *blocks) add_ranks(block, ranks, node_of_rank);
  return Placement(node_of_rank);
}

}  // namespace haichi::placement
