#include "mpi/collectives/comm_peers.h"

#include "mpi/compat/nonblocking_alltoall.h"
#include "mpi/job/runtime.h"
#include "mpi/log/run_log.h"
#include "report/rank_log.h"

namespace haichi::mpi {
CommPeers::CommPeers(RankSetPtr of, int me, MessageTag own, std::vector<int> all,
                     std::optional<Neighbourhood> near)
    : ranks(std::move(of)),
      placement(*ranks->placement),
      rank(me),
      world_rank(ranks->world_rank),
      tags(std::move(all)),
      neighbourhood(std::move(near)),
      own_tag_(std::move(own)) {}

CommPeers::Calls& CommPeers::calls(const CollectiveKey& key) {
  const auto [entry, first] = calls_.try_emplace(key);
  if (!first) return entry->second;
  entry->second.key = &entry->first;
  entry->second.choice = collectives::choose_nonblocking(
      {.wanted = Runtime::get()->settings.text("collectives.algorithm"),
       .block = key.size_bin < 0 ? -1 : int64_t{1} << key.size_bin,
       .fewer_messages_up_to = fewer_messages_up_to(placement.ranks()),
       .out_of_step_up_to = out_of_step_up_to()});
  return entry->second;
}

void CommPeers::count(Calls& calls) {
  if (++calls.count >= calls.in_log.due) log(calls);
}

report::CollectiveRecord CommPeers::record_of(const Calls& calls) const {
  report::CollectiveRecord record;
  record.collective = calls.key->collective;
  record.ranks = placement.ranks();
  record.nodes = placement.nodes();
  record.size_bin = calls.key->size_bin;
  record.calls = calls.count;
  record.locked = true;
  record.seconds = double(calls.ns.load(std::memory_order_relaxed)) * 1e-9;
  record.chosen = calls.choice.text();
  record.why = calls.choice.why;
  record.candidates.push_back({record.chosen, {}, false});
  return record;
}

std::vector<report::CollectiveRecord> CommPeers::records() const {
  std::vector<report::CollectiveRecord> records;
  if (rank != 0) return records;
  for (const auto& [key, calls] : calls_) records.push_back(record_of(calls));
  return records;
}

void CommPeers::log(Calls& calls) {
  Runtime* const runtime = Runtime::get();
  if (rank != 0 || runtime == nullptr) return;
  log_with(*runtime, false, [&](report::RankLog& log_of_rank) {
    log_of_rank.add_collective(calls.in_log, record_of(calls));
  });
}

void CommPeers::log_last() {
  Runtime* const runtime = Runtime::get();
  if (rank != 0 || runtime == nullptr) return;
  log_with(*runtime, true, [&](report::RankLog& log_of_rank) {
    for (auto& [key, calls] : calls_) log_of_rank.add_collective(calls.in_log, record_of(calls));
  });
}

}  // namespace haichi::mpi
