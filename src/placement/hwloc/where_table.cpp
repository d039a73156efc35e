#include "placement/hwloc/where_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "placement/formats.h"

namespace haichi::placement {
namespace {

// Rows of text; the first is the head. Columns are as wide as their widest cell.
class Columns {
 public:
  explicit Columns(std::vector<std::string> head) { add(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  /// The columns whose number is in `right` are aligned on the right.
  std::string text(std::initializer_list<size_t> right) const {
    std::vector<size_t> width(rows_.front().size());
    for (const auto& row : rows_)
      for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
    std::string text;
    for (const auto& row : rows_) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        const bool aligned_right = std::find(right.begin(), right.end(), i) != right.end();
        const std::string blanks(width[i] - row[i].size(), ' ');
        line += aligned_right ? blanks + row[i] : row[i] + blanks;
        line += "  ";
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string plural(int n, const char* word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

std::string node_table(const Placement& placement, const std::vector<RankDetails>& details,
                       bool played) {
  std::vector<std::string> head = {"node",  "name",    "ranks",     "packages",
                                   "cores", "threads", "NUMA nodes"};
  bool addressed = false;
  for (int node = 0; node < placement.nodes(); ++node)
    addressed = addressed || !placement.node_address(node).empty();
  if (addressed) head.push_back("address");
  if (played) head.push_back("real host");
  Columns columns(std::move(head));
  for (int node = 0; node < placement.nodes(); ++node) {
    const auto ranks = placement.ranks_on(node);
    const RankDetails& first = details[size_t(ranks.front())];
    const auto& h = first.hardware;
    std::vector<std::string> row = {fmt::format("{}", node), placement.node_name(node),
                                    to_rank_list(ranks)};
    for (const int n : {h.packages, h.cores, h.threads, h.numa_nodes})
      row.push_back(first.problem.empty() ? fmt::format("{}", n) : "?");
    if (addressed) row.push_back(placement.node_address(node));
    if (played) row.push_back(first.host);
    columns.add(std::move(row));
  }
  return columns.text({0, 3, 4, 5, 6});
}

std::string rank_table(const Placement& placement, const std::vector<RankDetails>& details) {
  Columns columns({"ranks", "node", "threads", "NUMA nodes", ""});
  for (int node = 0; node < placement.nodes(); ++node) {
    // Bindings in order of the first rank that has them.
    std::vector<std::pair<const RankDetails*, std::vector<int>>> groups;
    std::map<std::pair<std::string, std::string>, size_t> index;
    for (const int rank : placement.ranks_on(node)) {
      const RankDetails& d = details[size_t(rank)];
      const auto [entry, first] = index.try_emplace({d.binding.threads, d.problem}, groups.size());
      if (first) groups.push_back({&d, {}});
      groups[entry->second].second.push_back(rank);
    }
    for (const auto& [d, ranks] : groups)
      columns.add({to_rank_list(ranks), placement.node_name(node), d->binding.threads,
                   d->binding.numa_nodes,
                   !d->problem.empty() ? d->problem
                   : d->binding.bound  ? "bound"
                                       : "not bound"});
  }
  return columns.text({});
}

}  // namespace

std::string pack(const RankDetails& d) {
  const auto& h = d.hardware;
  std::string text;
  for (const std::string& field :
       {d.host, d.problem, d.binding.threads, d.binding.numa_nodes, std::to_string(h.packages),
        std::to_string(h.cores), std::to_string(h.threads), std::to_string(h.numa_nodes),
        std::to_string(int(d.binding.bound))})
    text += field + '\0';
  return text;
}

RankDetails unpack(const std::string& text) {
  std::array<std::string, 9> field;
  size_t at = 0;
  for (std::string& f : field) {
    f = text.substr(at, text.find('\0', at) - at);
    at += f.size() + 1;
  }
  const auto number = [&](size_t i) {
    int value = 0;
    std::from_chars(field[i].data(), field[i].data() + field[i].size(), value);
    return value;
  };
  return {field[0],
          field[1],
          {number(4), number(5), number(6), number(7)},
          {field[2], field[3], number(8) != 0}};
}

std::string where_table(const Placement& placement, const std::vector<RankDetails>& details,
                        const std::string& file) {
  return fmt::format("{} on {}, {}\n\n{}\n{}", plural(placement.ranks(), "rank"),
                     plural(placement.nodes(), "node"),
                     file.empty() ? "told apart by their hosts" : "as " + file + " says",
                     node_table(placement, details, !file.empty()), rank_table(placement, details));
}

}  // namespace haichi::placement
