#include "replay/run/outcome.h"

#include <mpi.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "replay/run/must.h"

namespace haichi::replay {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRows = 32;

std::string row(const std::string& name, const Outcome& each) {
  return fmt::format("{:<12} {:>12.6f} {:>12.6f} {:>12.6f} {:>12.6f} {:>9.2f}\n", name,
                     each.recorded_s, each.recorded_mpi_s, each.replayed_s, each.replayed_mpi_s,
                     each.recorded_s > 0 ? each.replayed_s / each.recorded_s : 0);
}

// The slowest rank decides how long a job takes.
Outcome slowest(const std::vector<Outcome>& all) {
  Outcome most;
  for (const Outcome& each : all) {
    most.recorded_s = std::max(most.recorded_s, each.recorded_s);
    most.recorded_mpi_s = std::max(most.recorded_mpi_s, each.recorded_mpi_s);
    most.replayed_s = std::max(most.replayed_s, each.replayed_s);
    most.replayed_mpi_s = std::max(most.replayed_mpi_s, each.replayed_mpi_s);
    most.calls += each.calls;
  }
  return most;
}

Json json_of(const Outcome& each) {
  return {{"recorded_s", each.recorded_s},
          {"recorded_mpi_s", each.recorded_mpi_s},
          {"replayed_s", each.replayed_s},
          {"replayed_mpi_s", each.replayed_mpi_s},
          {"calls", uint64_t(each.calls)}};
}

const char* name_of(Compute how) {
  return how == Compute::busy ? "busy" : how == Compute::idle ? "idle" : "none";
}

}  // namespace

std::vector<Outcome> gathered(const Outcome& mine) {
  int rank = 0, ranks = 1;
  must(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  must(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
  std::vector<Outcome> all(rank == 0 ? size_t(ranks) : 0);
  must(MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0,
                  MPI_COMM_WORLD));
  return all;
}

std::string table_of(const std::vector<Outcome>& all) {
  std::vector<size_t> ranks(all.size());
  std::iota(ranks.begin(), ranks.end(), size_t{0});
  if (all.size() > kMostRows) {
    const auto slower = [&](size_t a, size_t b) { return all[a].replayed_s > all[b].replayed_s; };
    std::stable_sort(ranks.begin(), ranks.end(), slower);
    ranks.resize(kMostRows);
  }
  std::string text =
      fmt::format("{:<12} {:>25} {:>25}\n{:<12} {:>12} {:>12} {:>12} {:>12} {:>9}\n", "",
                  "recorded, s", "replayed, s", "", "all", "in MPI", "all", "in MPI", "ratio");
  for (const size_t rank : ranks) text += row(fmt::format("rank {}", rank), all[rank]);
  if (all.size() > kMostRows)
    text += fmt::format("(the {} slowest of {} ranks)\n", kMostRows, all.size());
  return text + row("the slowest", slowest(all));
}

std::string json_of(const std::vector<Outcome>& all, const record::Record& record,
                    const Options& options, const std::vector<std::string>& notes) {
  Json ranks = Json::array();
  for (size_t rank = 0; rank < all.size(); ++rank) {
    ranks.push_back({{"rank", rank}});
    ranks.back().update(json_of(all[rank]));
  }
  const Json whole = {{"schema", "haichi.replay/1"},
                      {"record", options.record},
                      {"program", record.program},
                      {"compute", name_of(options.compute)},
                      {"ranks", std::move(ranks)},
                      {"slowest", json_of(slowest(all))},
                      {"notes", notes}};
  return whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace haichi::replay
