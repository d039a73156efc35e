// What the report keeps of one call: its record, and its intervals in this rank's trace.
#pragma once

#include "base/clock.h"
#include "mpi/files/file_state.h"
#include "mpi/requests/executor.h"
#include "report/kept.h"
#include "report/records.h"
#include "trace/recorder.h"

namespace haichi::mpi {

/// The record of the next call of a file; its numbers are counted on.
inline report::CallRecord begin_record(FileState& state, const char* call) {
  report::CallRecord record;
  {
    const std::lock_guard guard(state.mutex);
    record.index = state.record.calls_seen++;
  }
  record.call = call;
  const std::lock_guard guard(state.runtime.mutex);
  record.event_call = state.runtime.calls_traced++;
  return record;
}

/// Whether anybody reads what a record says; later calls are counted.
inline bool listed(const FileState& state, const report::CallRecord& record) {
  return state.runtime.reports && record.index < report::kMaxCallsListed;
}

inline void keep_record(FileState& state, report::CallRecord record) {
  if (!listed(state, record)) return;
  const std::lock_guard guard(state.mutex);
  state.record.calls.push_back(std::move(record));
}

/// The record of a call that is the MPI library's. `why`: empty on ranks that need not say it.
inline void record_left(FileState& state, const char* call, std::string why) {
  report::CallRecord record = begin_record(state, call);
  if (!why.empty()) record.why.push_back(std::move(why));
  keep_record(state, std::move(record));
}

/// Collects one call's trace; the recorder and the record are the file's.
class CallTrace : public ExecutionObserver {
 public:
  CallTrace(FileState& state, report::CallRecord& record) : state_(state), record_(record) {}

  void exchanged(const ExchangeRecord& e) override {
    add(trace::Phase::exchange, e.round, e.begin_ns, e.end_ns, e.bytes_sent);
  }
  void moved(int peer, int64_t bytes, int64_t round) override {
    const placement::Placement& world = state_.runtime.world;
    const int from = world.node_of(state_.runtime.rank);
    const int rank = state_.world_rank[size_t(peer)], to = world.node_of(rank);
    (from == to ? record_.bytes_inside : record_.bytes_between) += bytes;
    record_.messages_between += from != to;
    if (rank != state_.runtime.rank && listed(state_, record_))
      report::keep_message({.call = record_.event_call,
                            .cycle = int32_t(round),
                            .to = rank,
                            .at_ns = now_ns() - state_.runtime.start_ns,
                            .bytes = bytes});
    const std::lock_guard guard(state_.runtime.mutex);
    state_.runtime.recorder.sent(to, bytes);
  }
  void add(trace::Phase phase, int64_t cycle, int64_t begin_ns, int64_t end_ns, int64_t bytes) {
    if (phase == trace::Phase::read || phase == trace::Phase::write) file_ns_ += end_ns - begin_ns;
    const int64_t start = state_.runtime.start_ns;
    const std::lock_guard guard(state_.runtime.mutex);
    state_.runtime.recorder.add(
        {record_.event_call, int32_t(cycle), phase, begin_ns - start, end_ns - start, bytes});
  }
  static void record_phase(void* context, trace::Phase phase, int64_t cycle, int64_t begin_ns,
                           int64_t end_ns, int64_t bytes) {
    static_cast<CallTrace*>(context)->add(phase, cycle, begin_ns, end_ns, bytes);
  }

  /// What this rank's accesses of the file took, so far.
  int64_t file_ns() const { return file_ns_; }

 private:
  FileState& state_;
  report::CallRecord& record_;
  int64_t file_ns_ = 0;
};

}  // namespace haichi::mpi
