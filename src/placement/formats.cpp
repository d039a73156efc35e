// haichi.placement/1, and telling the three notations apart.
#include "placement/formats.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace haichi::placement {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "haichi.placement/1";

// Refuses fields that this version does not know: they are slips of the pen ("rank" for "ranks").
Status only_fields(const json& object, std::string_view where,
                   std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return fail(EINVAL, "{} has the unknown field {}; known are {}", where, quoted(key),
                fmt::join(known, ", "));
  }
  return {};
}

// What the "nodes" of a file say.
struct Nodes {
  std::vector<int> index_of_rank;             // rank -> entry of "nodes"
  std::vector<std::string> names, addresses;  // one per entry; an address may be empty
};

// A text that may be left out, "" if it is.
Result<std::string> optional_text(const json& node, const char* field, std::string_view where,
                                  std::string_view what) {
  const auto value = node.find(field);
  if (value == node.end() || value->is_null()) return std::string();
  if (!value->is_string() || value->get_ref<const std::string&>().empty())
    return fail(EINVAL, "{}.{} is {}; write {} in quotes", where, field, shown(*value), what);
  return value->get<std::string>();
}

Status read_node(const json& node, size_t index, Nodes& out) {
  const std::string where = fmt::format("nodes[{}]", index);
  if (!node.is_object())
    return fail(EINVAL, R"({} is {}; write {{"name": "n0", "ranks": "0-3"}})", where, shown(node));
  if (auto known = only_fields(node, where, {"name", "address", "ranks"}); !known) return known;
  const auto list = node.find("ranks");
  const auto name = optional_text(node, "name", where, "the node's name");
  if (!name) return tl::unexpected(name.error());
  const auto address = optional_text(node, "address", where, "where the node is in the network");
  if (!address) return tl::unexpected(address.error());
  if (list == node.end()) return fail(EINVAL, R"({}.ranks is missing; write "0-3,8")", where);
  if (!list->is_string())
    return fail(EINVAL, R"({}.ranks is {}; write a rank list in quotes, "0-3,8")", where,
                shown(*list));
  const auto ranks = from_rank_list(list->get_ref<const std::string&>());
  if (!ranks)
    return fail(EINVAL, "{}.ranks {}: {}; a rank list is like \"0-3,8\"", where, shown(*list),
                ranks.error().text);
  if (ranks->empty())
    return fail(EINVAL, "{}.ranks is empty; leave out a node that has no ranks", where);
  if (size_t(ranks->back()) >= out.index_of_rank.size())
    out.index_of_rank.resize(size_t(ranks->back()) + 1, -1);
  for (const int rank : *ranks) {
    int& index_of_rank = out.index_of_rank[size_t(rank)];
    if (index_of_rank >= 0)
      return fail(EINVAL, "rank {} is in nodes[{}] and in {}; put it in one", rank, index_of_rank,
                  where);
    index_of_rank = int(index);
  }
  out.names.push_back(name->empty() ? fmt::format("node{}", index) : *name);
  out.addresses.push_back(*address);
  return {};
}

Result<Placement> read_nodes(const json& document) {
  const auto nodes = document.find("nodes");
  if (nodes == document.end() || !nodes->is_array() || nodes->empty())
    return fail(EINVAL, R"("nodes" is {}; write [{{"name": "n0", "ranks": "0-3"}}, ...])",
                nodes == document.end() ? "missing" : shown(*nodes));
  Nodes read;
  for (size_t i = 0; i < nodes->size(); ++i)
    if (auto done = read_node((*nodes)[i], i, read); !done) return tl::unexpected(done.error());
  // A placement numbers its nodes as they first appear by rank, whatever their order in the file.
  std::vector<std::string> names, addresses;
  std::vector<bool> seen(read.names.size());
  for (size_t rank = 0; rank < read.index_of_rank.size(); ++rank) {
    const int index = read.index_of_rank[rank];
    if (index < 0)
      return fail(EINVAL, "rank {} is on no node, but rank {} is; give every rank from 0 on a node",
                  rank, read.index_of_rank.size() - 1);
    if (!seen[size_t(index)]) {
      names.push_back(read.names[size_t(index)]);
      addresses.push_back(read.addresses[size_t(index)]);
    }
    seen[size_t(index)] = true;
  }
  Placement placement(read.index_of_rank, std::move(names));
  const bool some =
      std::any_of(addresses.begin(), addresses.end(), [](const auto& a) { return !a.empty(); });
  if (some) placement.set_node_addresses(std::move(addresses));
  return placement;
}

Result<RankPlace> read_place(const json& entry, size_t rank) {
  const std::string where = fmt::format("places[{}]", rank);
  if (!entry.is_object())
    return fail(EINVAL, R"({} is {}; write {{"core": 0, "cores": 1, "numa": 0}})", where,
                shown(entry));
  if (auto known = only_fields(entry, where, {"core", "cores", "numa"}); !known)
    return tl::unexpected(known.error());
  RankPlace place;
  const struct {
    const char* name;
    int lowest;
    int* out;
  } fields[] = {
      {"core", -1, &place.core}, {"cores", 0, &place.cores}, {"numa", -1, &place.numa_node}};
  for (const auto& field : fields) {
    const auto value = entry.find(field.name);
    if (value == entry.end()) continue;
    const auto number = whole_number(*value);
    if (!number || *number < field.lowest)
      return fail(EINVAL, "{}.{} is {}; write a whole number, {} if not known", where, field.name,
                  shown(*value), field.lowest);
    *field.out = *number;
  }
  return place;
}

Status read_places(const json& document, Placement& placement) {
  const auto entries = document.find("places");
  if (entries == document.end() || entries->is_null()) return {};
  if (!entries->is_array() || entries->size() != size_t(placement.ranks()))
    return fail(EINVAL, "\"places\" {}; give one for each of the {} ranks, or leave it out",
                entries->is_array() ? fmt::format("has {} entries", entries->size())
                                    : "is " + shown(*entries),
                placement.ranks());
  std::vector<RankPlace> places;
  places.reserve(entries->size());
  for (size_t rank = 0; rank < entries->size(); ++rank) {
    const auto place = read_place((*entries)[rank], rank);
    if (!place) return tl::unexpected(place.error());
    places.push_back(*place);
  }
  placement.set_places(std::move(places));
  return {};
}

Result<Placement> read_document(const json& document) {
  if (!document.is_object())
    return fail(EINVAL, "the text is {}, not a JSON object", shown(document));
  const auto schema = document.find("schema");
  if (schema == document.end() || *schema != kSchema)
    return fail(EINVAL, "\"schema\" is {}; write \"{}\"",
                schema == document.end() ? "missing" : shown(*schema), kSchema);
  if (auto known = only_fields(document, "the object", {"schema", "nodes", "places"}); !known)
    return tl::unexpected(known.error());
  auto placement = read_nodes(document);
  if (!placement) return placement;
  if (auto done = read_places(document, *placement); !done) return tl::unexpected(done.error());
  return placement;
}

Result<Placement> with_name_of_format(Result<Placement> placement) {
  if (!placement) return fail(EINVAL, "{}: {}", kSchema, placement.error().text);
  return placement;
}

// Picks the reader by the first character, and for an object by its keys.
Result<Placement> read_any(std::string_view text, int ranks) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return fail(EINVAL, "the placement is empty");
  switch (text[first]) {
    case '(':
      return from_pmi_mapping(text, ranks);
    case '[':
      return from_taskmap(text);
    case '{': {
      const auto document = parse_json(text);
      if (!document) return tl::unexpected(document.error());
      const bool taskmap = document->contains("version") || document->contains("map");
      if (taskmap && !document->contains("schema")) return from_taskmap(text);
      return with_name_of_format(read_document(*document));
    }
    default:
      return fail(EINVAL,
                  "this is no placement: it must begin with {{ ({}), [ (an RFC 34 task map) or "
                  "(vector (a PMI mapping)",
                  kSchema);
  }
}

}  // namespace

std::string to_json(const Placement& placement) {
  std::string text = fmt::format("{{\n  \"schema\": \"{}\",\n  \"nodes\": [", kSchema);
  auto out = std::back_inserter(text);
  for (int node = 0; node < placement.nodes(); ++node) {
    const std::string address = placement.node_address(node);
    fmt::format_to(out, "{}\n    {{\"name\": {}, {}\"ranks\": \"{}\"}}", node == 0 ? "" : ",",
                   quoted(placement.node_name(node)),
                   address.empty() ? "" : fmt::format("\"address\": {}, ", quoted(address)),
                   to_rank_list(placement.ranks_on(node)));
  }
  text += "\n  ]";
  const char* separator = ",\n  \"places\": [\n    ";
  for (const RankPlace& place : placement.places()) {
    fmt::format_to(out, "{}{{\"core\": {}, \"cores\": {}, \"numa\": {}}}", separator, place.core,
                   place.cores, place.numa_node);
    separator = ",\n    ";
  }
  if (!placement.places().empty()) text += "\n  ]";
  return text + "\n}\n";
}

Result<Placement> from_json(std::string_view text) {
  const auto document = parse_json(text);
  return with_name_of_format(document ? read_document(*document)
                                      : tl::unexpected(document.error()));
}

Result<Placement> parse(std::string_view text, int ranks) {
  auto placement = read_any(text, ranks);
  if (placement && placement->ranks() != ranks)
    return fail(EINVAL,
                "the placement is for {} ranks, but the job has {}; start {} ranks, or describe "
                "ranks 0 to {}",
                placement->ranks(), ranks, placement->ranks(), ranks - 1);
  return placement;
}

}  // namespace haichi::placement
