// What some ranks of a job say together, for its report: within bounds, however many they are.
//
// At MPI_Finalize each rank joins what those below it in a tree (report/tree.h) say with what it
// says itself, and tells the rank above. Of calls that several ranks made there are sums; of phases
// and nodes too. Single ranks are listed as far as there is room: the slowest of each phase first,
// then by number. So no rank, and no report, has more than the setting report.bytes.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace haichi::report {

/// How many bytes what a report has may take, and of which job.
struct Bounds {
  int ranks = 1, nodes = 1;
  int64_t bytes = 1 << 20;

  int64_t of_ranks() const { return bytes * 3 / 8; }
  int64_t of_a_rank() const { return of_ranks() / ranks; }
  int64_t of_files() const { return bytes / 4; }
  int64_t of_collectives() const { return bytes / 16; }
  int64_t of_nodes() const { return bytes / 16; }
  int64_t of_notes() const { return bytes / 32; }  ///< the least
  /// So many nodes are one row of the traffic from node to node.
  int nodes_each() const { return (nodes + kMostRows - 1) / kMostRows; }
  static constexpr int kMostRows = 32;
};

class Part {
 public:
  explicit Part(const Bounds& bounds);

  /// What one rank says (report/rank_text.h). False if it is no JSON, which counts as nothing.
  bool add_rank(std::string_view text);
  /// What text() gave of other ranks.
  bool add(std::string_view text);
  /// In no more than the bounds' bytes.
  std::string text();
  /// haichi.report/1, given what header() made (report/header.h) and, if the run did not come to
  /// its end, how it was cut (JSON). Empty if the header is none. Nothing is left here.
  std::string report(std::string_view header, std::string_view cut = {});

 private:
  using json = nlohmann::json;
  void join_file(json& file);
  void join_phases(const json& phases);
  void join_nodes(json& nodes);
  void join_sent(const json& sent);
  void keep_within_bounds();
  void keep_ranks();
  void number_calls(json& files);
  json files_with_numbers();
  json traffic(const json& placement) const;

  Bounds bounds_;
  std::map<int64_t, json> files_;
  std::map<int, json> ranks_, nodes_;
  json collectives_ = json::array();
  std::map<std::string, int64_t> notes_;
  json phases_ = json::object(), access_, storage_;
  std::map<std::pair<int, int>, int64_t> sent_;  // from row to column
  int64_t ranks_not_listed_ = 0, added_ = 0;     // the second: bytes of text
};

}  // namespace haichi::report
