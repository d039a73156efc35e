#include "sim/simulator.h"

#include <errno.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/clockwork.h"
#include "sim/exchange_log.h"
#include "sim/look_ahead.h"
#include "sim/messages.h"
#include "sim/network.h"
#include "sim/node_meetings.h"
#include "sim/ranks.h"
#include "sim/storage.h"
#include "sim/wires.h"

namespace haichi::sim {
namespace {

using plan::Schedule;
using plan::Step;

constexpr int64_t kEventsApart = 1 << 18;  // between two looks at how far the run is

// Takes the steps of each rank, and brings the other parts of the machine their events.
class Run {
 public:
  Run(const placement::Placement& placement, const Machine& machine, const Network& network,
      const std::vector<Schedule*>& schedules, const Options& options)
      : placement_(placement),
        machine_(machine),
        options_(options),
        clock_(schedules.size(), network.links().size()),
        ranks_(schedules, options, clock_),
        wires_(network, placement, machine, options.seed, clock_),
        messages_(placement, machine, options.observer, clock_, ranks_, wires_),
        storage_(machine, placement.nodes(), placement.ranks(),
                 {wires_.ports_out(), wires_.ports_in()}),
        meetings_(placement, from_nanoseconds(machine.local_latency_ns)) {
    for (int r = 0; r < placement.ranks(); ++r) outcome_.start.push_back(ranks_[r].processor_free);
    outcome_.finish.resize(schedules.size());
    if (options.observer) logs_.resize(schedules.size());
  }

  Result<Outcome> to_the_end() {
    while (!clock_.over()) {
      const uint32_t actor = clock_.next();
      look_ahead_.turn(clock_, actor, [&](uint32_t other, size_t step) { fetch(other, step); });
      if (++outcome_.events % kEventsApart == 0 && options_.progress)
        options_.progress->at(messages_.received().messages);
      if (auto done = act(actor); !done) return tl::unexpected(done.error());
    }
    for (int r = 0; r < placement_.ranks(); ++r)
      if (ranks_[r].state != State::finished) return tl::unexpected(deadlock());
    if (const auto left = messages_.matching().first_waiting())
      return fail(EPROTO, "rank {} never received what rank {} sent; {} such messages",
                  left->target, left->source, messages_.matching().waiting());
    outcome_.messages = messages_.received().messages;
    outcome_.bytes = messages_.received().bytes;
    outcome_.network_bytes = messages_.received().network_bytes;
    return std::move(outcome_);
  }

 private:
  using State = RankState::State;

  Status act(uint32_t actor) {
    if (clock_.is_rank(actor)) return run_rank(int(actor));
    if (actor == clock_.words()) return messages_.take_word();
    if (actor == clock_.local()) return messages_.take_local();
    if (actor == clock_.storage()) return advance_storage();
    const auto packet = wires_.act(clock_.link_of(actor));
    return packet ? messages_.arrive(*packet) : Status{};
  }

  // From memory, what an actor needs when its turn comes.
  void fetch(uint32_t actor, size_t step) const {
    if (clock_.is_rank(actor) && step == 0) ranks_.fetch(int(actor));
    if (!clock_.is_rank(actor) && actor < clock_.words()) wires_.fetch(clock_.link_of(actor), step);
  }

  // Takes the rank's steps until one takes time that others may use, or has to be waited for.
  Status run_rank(int r) {
    RankState& rank = ranks_[r];
    if (rank.state == State::issuing) {
      rank.pending = false;
      note_exchange(r, rank, rank.step.from.size);
      messages_.send(r);
    }
    rank.state = State::running;
    while (rank.state == State::running) {
      if (!rank.pending) {
        rank.ended = !rank.steps.next(rank.step);
        if (rank.ended) rank.step = Step{.kind = Step::Kind::wait, .round = kEveryRound};
        rank.pending = true;
      }
      if (auto fine = take(r, rank); !fine) return fine;
    }
    // The event that brought it here is over, unless a new one has taken its place.
    const bool has_event = rank.state == State::issuing || rank.state == State::resumes ||
                           (rank.state == State::waits_to_send && !rank.departures.empty());
    if (!has_event) clock_.remove(uint32_t(r));
    return {};
  }

  Status take(int r, RankState& rank) {
    switch (rank.step.kind) {
      case Step::Kind::send:
        note_exchange(r, rank, 0);
        return begin_send(r, rank);
      case Step::Kind::receive:
        rank.pending = false;
        note_exchange(r, rank, 0);
        return messages_.post(r, rank.step);
      case Step::Kind::copy:
        rank.pending = false;
        note_exchange(r, rank, rank.step.from.size);
        ranks_.use_processor(r, messages_.costs().copy(rank.step.from.size));
        return {};
      case Step::Kind::wait:
        wait(r, rank);
        return {};
      case Step::Kind::node_meet:
        rank.pending = false;
        meet(r, rank);
        return {};
      case Step::Kind::node_arrive:
        rank.pending = false;
        rank.arrived = true;
        arrive(r, rank);
        return {};
      case Step::Kind::node_tell:
        rank.pending = false;
        meetings_.tell(r, rank.step.cell, rank.step.number);
        return {};
      case Step::Kind::node_sum:
        rank.pending = false;
        *rank.step.sum = meetings_.sum(r, rank.step.cell);
        return {};
      case Step::Kind::round:
        rank.pending = false;
        return {};
      case Step::Kind::file_read:
      case Step::Kind::file_write:
        return access_file(r, rank);
      case Step::Kind::file_wait:
        wait_for_file(r, rank);
        return {};
    }
    return {};
  }

  Status begin_send(int r, RankState& rank) {
    const int64_t bytes = rank.step.from.size;
    if (auto fine = messages_.check(r, rank.step.peer, bytes); !fine) return fine;
    const Time begin = std::max(clock_.now(), rank.processor_free);
    if (rank.window > 0 && rank.outstanding_at(begin) >= rank.window) {
      if (rank.steps.put_off(rank.step)) {
        rank.pending = false;
        return {};
      }
      rank.state = State::waits_to_send;
      if (!rank.departures.empty()) clock_.set(uint32_t(r), rank.departures.front());
      return {};
    }
    rank.state = State::issuing;
    clock_.set(uint32_t(r), messages_.begin_send(r));
    return {};
  }

  // For an observer: the rank is at an exchanging step, and moves so many bytes away.
  void note_exchange(int r, const RankState& rank, int64_t bytes) {
    if (logs_.empty()) return;
    logs_[size_t(r)].add(rank.step.round, clock_.now(), bytes);
    if (bytes > 0) options_.observer->moved(r, rank.step.peer < 0 ? r : rank.step.peer, bytes);
  }
  void end_exchanges(int r, int64_t round) {
    if (logs_.empty()) return;
    logs_[size_t(r)].finish(round, clock_.now(), [&](const ExchangeLog::Entry& entry) {
      options_.observer->exchanged({r, entry.round, entry.begin, clock_.now(), entry.bytes});
    });
  }

  void wait(int r, RankState& rank) {
    const auto until = rank.complete_until(rank.step.round);
    if (!until) {
      rank.state = State::waits;
      return;
    }
    const Time end = std::max(rank.processor_free, *until);
    if (end > clock_.now()) return ranks_.resume(r, end);
    if (rank.ended && !storage_.idle(r)) return wait_for_file(r, rank);
    end_exchanges(r, rank.step.round);
    rank.forget(rank.step.round);
    rank.pending = false;
    if (!rank.ended) return;
    rank.state = State::finished;
    outcome_.finish[size_t(r)] = clock_.now();
  }

  void arrive(int r, RankState& rank) {
    ++rank.meetings;
    if (!meetings_.arrive(r, std::max(clock_.now(), rank.processor_free))) return;
    for (const int other : placement_.ranks_on(placement_.node_of(r)))
      if (ranks_[other].state == State::waits_for_node) ranks_.resume(other, meetings_.leave(r));
  }

  void meet(int r, RankState& rank) {
    if (!std::exchange(rank.arrived, false)) arrive(r, rank);
    if (meetings_.held(r) < rank.meetings)
      rank.state = State::waits_for_node;
    else
      ranks_.resume(r, std::max(clock_.now(), meetings_.leave(r)));
  }

  // The step waits for the processor; the transfer needs none.
  Status access_file(int r, RankState& rank) {
    const bool writes = rank.step.kind == Step::Kind::file_write;
    const int64_t bytes = writes ? rank.step.from.size : rank.step.to.size;
    if (machine_.servers < 1)
      return fail(ENOTSUP, "rank {} accesses the file, and the machine has no servers", r);
    if (rank.step.file_begin < 0 || bytes < 0 || bytes > INT64_MAX - rank.step.file_begin)
      return fail(EINVAL, "rank {} accesses {} bytes of the file at {}", r, bytes,
                  rank.step.file_begin);
    if (rank.processor_free > clock_.now()) {
      ranks_.resume(r, rank.processor_free);
      return {};
    }
    rank.pending = false;
    storage_.start({r, placement_.node_of(r), rank.step.round, writes, rank.step.file_begin, bytes,
                    clock_.now()});
    clock_.set(clock_.storage(), storage_.next_time());
    return {};
  }

  void wait_for_file(int r, RankState& rank) {
    rank.pending = rank.ended;  // the wait at the end is then taken again
    if (!storage_.idle(r)) rank.state = State::waits_for_file;
  }

  Status advance_storage() {
    const auto done = storage_.handle_event();
    if (storage_.has_event())
      clock_.set(clock_.storage(), storage_.next_time());
    else
      clock_.remove(clock_.storage());
    if (!done) return {};
    outcome_.file_bytes += done->bytes;
    if (options_.observer)
      options_.observer->accessed(
          {done->rank, done->round, done->writes, done->bytes, done->begin, clock_.now()});
    RankState& rank = ranks_[done->rank];
    if (rank.state != State::waits_for_file || !storage_.idle(done->rank)) return {};
    ranks_.resume(done->rank, std::max(clock_.now(), rank.processor_free));
    return {};
  }

  Error deadlock() const {
    int64_t waiting = 0;
    std::string first;
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const RankState& rank = ranks_[int(r)];
      if (rank.state == State::finished || waiting++ > 0) continue;
      first = rank.state == State::waits_to_send
                  ? fmt::format("rank {} waits to send to {}", r, rank.step.peer)
              : rank.state == State::waits_for_node
                  ? fmt::format("rank {} waits for its node", r)
                  : fmt::format("rank {} waits for its messages", r);
    }
    if (const auto left = messages_.matching().first_waiting();
        left && left->side == Matching::Side::receive)
      first += fmt::format("; rank {} receives from {} in vain", left->target, left->source);
    return {EDEADLK, fmt::format("deadlock of {} of {} ranks: {}", waiting, ranks_.size(), first)};
  }

  const placement::Placement& placement_;
  const Machine& machine_;
  const Options& options_;
  Clockwork clock_;
  Ranks ranks_;
  Wires wires_;
  Messages messages_;
  Storage storage_;
  NodeMeetings meetings_;
  LookAhead look_ahead_;
  std::vector<ExchangeLog> logs_;  // by rank, if anybody wants to know
  Outcome outcome_;
};

}  // namespace

Result<Outcome> simulate(const placement::Placement& placement, const Machine& machine,
                         const std::vector<Schedule*>& schedules, const Options& options) {
  if (schedules.size() != size_t(placement.ranks()))
    return fail(EINVAL, "{} schedules for {} ranks", schedules.size(), placement.ranks());
  const auto network = make_network(machine, placement.nodes());
  if (!network) return tl::unexpected(network.error());
  return Run(placement, machine, **network, schedules, options).to_the_end();
}

}  // namespace haichi::sim
