#include "sim/simulator.h"

#include <errno.h>

#include <algorithm>
#include <deque>
#include <queue>
#include <string>
#include <utility>

#include "sim/draws.h"
#include "sim/event_queue.h"
#include "sim/exchange_log.h"
#include "sim/matching.h"
#include "sim/message_costs.h"
#include "sim/network.h"
#include "sim/node_meetings.h"
#include "sim/packet.h"
#include "sim/pairs_seen.h"
#include "sim/rank_state.h"
#include "sim/storage.h"

namespace haichi::sim {
namespace {

using plan::Schedule;
using plan::Step;

// What both sides of a rendezvous must remember; those used up are chained by `send_round`.
struct Rendezvous {
  int32_t send_round, receive_round;
};

constexpr int32_t kEager = -1;

class Run {
 public:
  Run(const placement::Placement& placement, const Machine& machine, const Network& network,
      const std::vector<Schedule*>& schedules, const Options& options)
      : placement_(placement),
        machine_(machine),
        costs_(placement, machine),
        network_(network),
        options_(options),
        ranks_(schedules.size()),
        links_(network.links().size()),
        link_free_(links_.size()),
        storage_(machine, placement.nodes(), placement.ranks(), ports()),
        meetings_(placement, from_nanoseconds(machine.local_latency_ns)),
        matching_(placement.ranks()),
        pairs_(placement.ranks()),
        events_(ranks_.size() + links_.size() + 3) {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      RankState& rank = ranks_[r];
      rank.schedule = schedules[r];
      rank.window = schedules[r]->max_outstanding();
      const double share = unit(mixed(mixed(options.seed) ^ mixed(r)));
      rank.processor_free = from_nanoseconds(options.skew_ns * share);
      outcome_.start.push_back(rank.processor_free);
      events_.set(uint32_t(r), rank.processor_free);
    }
    outcome_.finish.resize(ranks_.size());
    if (options.observer) logs_.resize(ranks_.size());
  }

  Result<Outcome> to_the_end() {
    while (!events_.empty()) {
      now_ = events_.time();
      ++outcome_.events;
      if (auto done = act(events_.actor()); !done) return tl::unexpected(done.error());
    }
    for (const RankState& rank : ranks_)
      if (rank.state != RankState::State::finished) return tl::unexpected(deadlock());
    if (const auto left = matching_.first_waiting())
      return fail(EPROTO, "rank {} never received what rank {} sent; {} such messages",
                  left->target, left->source, matching_.waiting());
    return std::move(outcome_);
  }

 private:
  using State = RankState::State;

  // When the ports of the nodes are free: the first of the links.
  StoragePorts ports() {
    const std::span<Time> all(link_free_);
    const auto nodes = size_t(placement_.nodes());
    return {all.first(nodes), all.subspan(nodes, nodes)};
  }

  // Actors: the ranks, the links, two queues of what needs no link, and the storage.
  uint32_t link_actor(int link) const { return uint32_t(ranks_.size()) + uint32_t(link); }
  uint32_t words_actor() const { return uint32_t(ranks_.size() + links_.size()); }
  uint32_t local_actor() const { return words_actor() + 1; }
  uint32_t storage_actor() const { return words_actor() + 2; }

  Status act(uint32_t actor) {
    if (actor < ranks_.size()) return run_rank(int(actor));
    if (actor == words_actor()) return take_word();
    if (actor == storage_actor()) return advance_storage();
    if (actor == local_actor()) {
      const Packet packet = local_.front();
      local_.pop_front();
      reset(actor, local_);
      return deliver(packet);
    }
    const int link = int(actor - ranks_.size());
    std::deque<Packet>& queue = links_[size_t(link)];
    const Packet packet = queue.front();
    queue.pop_front();
    reset(actor, queue);
    const int next = network_.next(link, node_of_target(packet));
    if (next < 0) return deliver(packet);
    cross(next, packet, now_ + transfer_time(packet.bytes, network_.links()[size_t(link)].gbs));
    return {};
  }

  void reset(uint32_t actor, const std::deque<Packet>& queue) {
    if (queue.empty())
      events_.remove(actor);
    else
      events_.set(actor, queue.front().time);
  }

  // --- the ranks -----------------------------------------------------------------------------

  // Takes the rank's steps until one takes time that others may use, or has to be waited for.
  Status run_rank(int r) {
    RankState& rank = ranks_[size_t(r)];
    if (rank.state == State::issuing) {
      rank.pending = false;
      issue(r, rank);
    }
    rank.state = State::running;
    while (rank.state == State::running) {
      if (!rank.pending) {
        rank.ended = !rank.schedule->next(rank.step);
        if (rank.ended) rank.step = Step{.kind = Step::Kind::wait, .round = kEveryRound};
        rank.pending = true;
      }
      if (auto fine = take(r, rank); !fine) return fine;
    }
    // The event that brought it here is over, unless a new one has taken its place.
    const bool has_event = rank.state == State::issuing || rank.state == State::resumes ||
                           (rank.state == State::waits_to_send && !rank.departures.empty());
    if (!has_event) events_.remove(uint32_t(r));
    return {};
  }

  Status take(int r, RankState& rank) {
    if (rank.standing_back.due_before(rank.step))
      if (auto posted = post_rest(r, rank); !posted) return posted;
    switch (rank.step.kind) {
      case Step::Kind::send:
        note_exchange(r, rank, 0);
        return begin_send(r, rank);
      case Step::Kind::receive:
        rank.pending = false;
        note_exchange(r, rank, 0);
        return rank.standing_back.hold(rank.step) ? Status{} : post(r, rank, rank.step);
      case Step::Kind::copy:
        rank.pending = false;
        note_exchange(r, rank, rank.step.from.size);
        use_processor(r, costs_.copy(rank.step.from.size));
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

  // The rank's processor is a FIFO server too: its own steps and what it does for messages that
  // arrive. Returns when it is done with what begins now.
  Time use_processor(int r, Time work) {
    RankState& rank = ranks_[size_t(r)];
    if (options_.noise > 0) {
      const uint64_t draw = mixed(options_.seed + 1) ^ (uint64_t(r) << 32 | rank.draws++);
      work += Time(double(work) * options_.noise * 2 * unit(mixed(draw)));
    }
    rank.processor_free = std::max(now_, rank.processor_free) + work;
    return rank.processor_free;
  }

  Status begin_send(int r, RankState& rank) {
    const int64_t bytes = rank.step.from.size;
    if (auto fine = check(r, rank.step.peer, bytes); !fine) return fine;
    const Time begin = std::max(now_, rank.processor_free);
    if (rank.window > 0 && rank.outstanding_at(begin) >= rank.window) {
      if (!rank.standing_back.empty()) return post_rest(r, rank);  // and the send is tried again
      rank.state = State::waits_to_send;
      if (!rank.departures.empty()) events_.set(uint32_t(r), rank.departures.front());
      return {};
    }
    rank.state = State::issuing;
    const Time copy = costs_.eager(bytes) ? costs_.eager_copy(r, rank.step.peer, bytes) : 0;
    events_.set(uint32_t(r), use_processor(r, from_nanoseconds(machine_.send_ns) + copy));
    return {};
  }

  // For an observer: the rank is at an exchanging step, and moves so many bytes away.
  void note_exchange(int r, const RankState& rank, int64_t bytes) {
    if (logs_.empty()) return;
    logs_[size_t(r)].add(rank.step.round, now_, bytes);
    if (bytes > 0) options_.observer->moved(r, rank.step.peer < 0 ? r : rank.step.peer, bytes);
  }
  void end_exchanges(int r, int64_t round) {
    if (logs_.empty()) return;
    logs_[size_t(r)].finish(round, now_, [&](const ExchangeLog::Entry& entry) {
      options_.observer->exchanged({r, entry.round, entry.begin, now_, entry.bytes});
    });
  }

  // The send's work on the processor is done: the message goes.
  void issue(int r, RankState& rank) {
    note_exchange(r, rank, rank.step.from.size);
    const int peer = rank.step.peer;
    const auto round = int32_t(rank.step.round);
    Packet packet{now_, rank.step.from.size, r, peer, kEager, Packet::Kind::eager};
    if (!costs_.eager(packet.bytes)) {
      packet.kind = Packet::Kind::request;
      packet.rendezvous = remember(round);
      ++rank.outstanding;
      ++rank.open(round).count;
    }
    if (placement_.same_node(r, peer)) return send_local(packet);
    packet.first = pairs_.is_first(r, peer);
    const Time departed = cross(network_.port_out(placement_.node_of(r)), packet, now_);
    if (packet.kind == Packet::Kind::request) return;
    RankState::Open& open = rank.open(round);
    open.departed = std::max(open.departed, departed);
    if (rank.window == 0) return;
    rank.departures.push_back(departed);
    ++rank.outstanding;
  }

  Status post_rest(int r, RankState& rank) {
    while (!rank.standing_back.empty())
      if (auto done = post(r, rank, rank.standing_back.take()); !done) return done;
    return {};
  }

  Status post(int r, RankState& rank, const Step& step) {
    const int64_t bytes = step.to.size;
    const int peer = step.peer;
    if (auto fine = check(r, peer, bytes); !fine) return fine;
    const auto round = int32_t(step.round);
    const Time posted = use_processor(r, from_nanoseconds(machine_.receive_ns));
    const auto arrived = matching_.offer(r, peer, Matching::Side::receive, {bytes, round});
    if (arrived && arrived->bytes != bytes) return mismatch(peer, arrived->bytes, r, bytes);
    if (arrived && arrived->value == kEager) return {};  // its work was done when it arrived
    ++rank.open(round).count;
    if (!arrived) return {};
    const Packet packet{posted, bytes, peer, r, arrived->value, Packet::Kind::request};
    grant(packet, round);
    return {};
  }

  void wait(int r, RankState& rank) {
    const auto until = rank.complete_until(rank.step.round);
    if (!until) {
      rank.state = State::waits;
      return;
    }
    const Time end = std::max(rank.processor_free, *until);
    if (end > now_) {
      rank.state = State::resumes;
      events_.set(uint32_t(r), end);
      return;
    }
    if (rank.ended && !storage_.idle(r)) return wait_for_file(r, rank);
    end_exchanges(r, rank.step.round);
    rank.forget(rank.step.round);
    rank.pending = false;
    if (!rank.ended) return;
    rank.state = State::finished;
    outcome_.finish[size_t(r)] = now_;
  }

  void arrive(int r, RankState& rank) {
    ++rank.meetings;
    if (!meetings_.arrive(r, std::max(now_, rank.processor_free))) return;
    for (const int other : placement_.ranks_on(placement_.node_of(r)))
      if (ranks_[size_t(other)].state == State::waits_for_node) resume(other, meetings_.leave(r));
  }

  void meet(int r, RankState& rank) {
    if (!std::exchange(rank.arrived, false)) arrive(r, rank);
    if (meetings_.held(r) < rank.meetings)
      rank.state = State::waits_for_node;
    else
      resume(r, std::max(now_, meetings_.leave(r)));
  }

  void resume(int r, Time at) {
    ranks_[size_t(r)].state = State::resumes;
    events_.set(uint32_t(r), at);
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
    if (rank.processor_free > now_) {
      rank.state = State::resumes;
      events_.set(uint32_t(r), rank.processor_free);
      return {};
    }
    rank.pending = false;
    storage_.start(
        {r, placement_.node_of(r), rank.step.round, writes, rank.step.file_begin, bytes, now_});
    events_.set(storage_actor(), storage_.next_time());
    return {};
  }

  void wait_for_file(int r, RankState& rank) {
    rank.pending = rank.ended;  // the wait at the end is then taken again
    if (!storage_.idle(r)) rank.state = State::waits_for_file;
  }

  Status advance_storage() {
    const auto done = storage_.handle_event();
    if (storage_.has_event())
      events_.set(storage_actor(), storage_.next_time());
    else
      events_.remove(storage_actor());
    if (!done) return {};
    outcome_.file_bytes += done->bytes;
    if (options_.observer)
      options_.observer->accessed(
          {done->rank, done->round, done->writes, done->bytes, done->begin, now_});
    RankState& rank = ranks_[size_t(done->rank)];
    if (rank.state != State::waits_for_file || !storage_.idle(done->rank)) return {};
    rank.state = State::resumes;
    events_.set(uint32_t(done->rank), std::max(now_, rank.processor_free));
    return {};
  }

  // Something of the rank's is complete: it goes on if it waited for that.
  void wake(int r) {
    RankState& rank = ranks_[size_t(r)];
    if (rank.state == State::waits) {
      const auto until = rank.complete_until(rank.step.round);
      if (!until) return;
      rank.state = State::resumes;
      events_.set(uint32_t(r), std::max({now_, rank.processor_free, *until}));
    } else if (rank.state == State::waits_to_send && rank.outstanding_at(now_) < rank.window) {
      rank.state = State::resumes;
      events_.set(uint32_t(r), std::max(now_, rank.processor_free));
    }
  }

  Status check(int r, int peer, int64_t bytes) const {
    if (peer < 0 || peer >= placement_.ranks())
      return fail(EINVAL, "rank {} has a message with rank {}, and there are {} ranks", r, peer,
                  placement_.ranks());
    if (bytes < 0) return fail(EINVAL, "rank {} has a message of {} bytes", r, bytes);
    return {};
  }

  static tl::unexpected<Error> mismatch(int source, int64_t sent, int target, int64_t received) {
    return fail(EMSGSIZE, "rank {} sends {} bytes, but rank {} receives {}", source, sent, target,
                received);
  }

  // --- the messages --------------------------------------------------------------------------

  int node_of_target(const Packet& packet) const { return placement_.node_of(packet.target); }

  Time word_latency(int a, int b) const { return costs_.latency(a, b, 0); }

  // The packet's first byte is before the link, and its last will be at `tail`. Returns when the
  // last byte has left the link's near end.
  Time cross(int link, Packet packet, Time tail) {
    if (packet.kind == Packet::Kind::request) return ask(link, packet);
    std::deque<Packet>& queue = links_[size_t(link)];
    Time& free = link_free_[size_t(link)];
    const Link& shape = network_.links()[size_t(link)];
    const Time begin = std::max(now_, free);
    free = std::max(begin + transfer_time(packet.bytes, shape.gbs), tail);
    const bool last = network_.next(link, node_of_target(packet)) < 0;
    packet.time = (last ? free : begin) + shape.latency;
    queue.push_back(packet);
    if (queue.size() == 1) events_.set(link_actor(link), packet.time);
    return free;
  }

  // The word that asks for a rendezvous.
  Time ask(int link, Packet packet) {
    std::deque<Packet>& queue = links_[size_t(link)];
    packet.time = now_ + network_.links()[size_t(link)].latency;
    insert_in_order(queue, packet);
    events_.set(link_actor(link), queue.front().time);
    return now_;
  }

  void send_local(Packet packet) {
    packet.time = now_ + costs_.latency(packet.source, packet.target, packet.bytes);
    insert_in_order(local_, packet);
    events_.set(local_actor(), local_.front().time);
  }

  // The words that answer have nothing to overtake: they take the latency alone.
  void send_word(Packet packet, Time time) {
    packet.time = time;
    words_.push({packet, word_number_++});
    events_.set(words_actor(), words_.top().packet.time);
  }

  Status take_word() {
    const Packet packet = words_.top().packet;
    words_.pop();
    if (words_.empty())
      events_.remove(words_actor());
    else
      events_.set(words_actor(), words_.top().packet.time);
    if (packet.kind == Packet::Kind::done) {
      RankState& source = ranks_[size_t(packet.source)];
      --source.outstanding;
      --source.open(rendezvous_[size_t(packet.rendezvous)].send_round).count;
      forget(packet.rendezvous);
      wake(packet.source);
      return {};
    }
    Packet data = packet;
    data.kind = Packet::Kind::data;
    cross(network_.port_out(placement_.node_of(packet.source)), data, now_);
    return {};
  }

  // All of it is on the receiver's node: its processor does what is left.
  Status deliver(const Packet& packet) {
    const int r = packet.target;
    const bool is_eager = packet.kind == Packet::Kind::eager;
    const Time done =
        use_processor(r, from_nanoseconds(machine_.match_ns) +
                             (is_eager ? costs_.eager_copy(packet.source, r, packet.bytes) : 0));
    if (packet.kind == Packet::Kind::data) {
      complete(packet, rendezvous_[size_t(packet.rendezvous)].receive_round, done);
      finish_rendezvous(packet, done);
      return {};
    }
    const auto posted = matching_.offer(r, packet.source, Matching::Side::message,
                                        {packet.bytes, packet.rendezvous});
    if (posted && posted->bytes != packet.bytes)
      return mismatch(packet.source, packet.bytes, r, posted->bytes);
    if (posted && is_eager) complete(packet, posted->value, done);
    if (!posted && is_eager) count(packet, done);
    if (posted && !is_eager) {
      Packet granted = packet;
      granted.time = done;
      grant(granted, posted->value);
    }
    return {};
  }

  // Both sides of a rendezvous are there, at packet.time: the network fetches the bytes, or inside
  // a node the receiver does.
  void grant(Packet packet, int32_t receive_round) {
    rendezvous_[size_t(packet.rendezvous)].receive_round = receive_round;
    if (placement_.same_node(packet.source, packet.target)) {
      const Time done =
          use_processor(packet.target, costs_.fetch(packet.source, packet.target, packet.bytes));
      complete(packet, receive_round, done);
      finish_rendezvous(packet, done);
      return;
    }
    packet.kind = Packet::Kind::grant;
    send_word(packet, packet.time + word_latency(packet.source, packet.target));
  }

  void finish_rendezvous(Packet packet, Time done) {
    packet.kind = Packet::Kind::done;
    send_word(packet, done + word_latency(packet.source, packet.target));
  }

  // The receive is complete once the processor is done with it.
  void complete(const Packet& packet, int32_t round, Time done) {
    --ranks_[size_t(packet.target)].open(round).count;
    count(packet, done);
    wake(packet.target);
  }

  void count(const Packet& packet, Time done) {
    ++outcome_.messages;
    outcome_.bytes += packet.bytes;
    if (!placement_.same_node(packet.source, packet.target)) outcome_.network_bytes += packet.bytes;
    if (options_.observer)
      options_.observer->received({packet.source, packet.target, packet.bytes, now_, done});
  }

  int32_t remember(int32_t send_round) {
    if (free_rendezvous_ < 0) {
      rendezvous_.push_back({send_round, 0});
      return int32_t(rendezvous_.size()) - 1;
    }
    const int32_t at = free_rendezvous_;
    free_rendezvous_ = rendezvous_[size_t(at)].send_round;
    rendezvous_[size_t(at)] = {send_round, 0};
    return at;
  }
  void forget(int32_t at) {
    rendezvous_[size_t(at)].send_round = free_rendezvous_;
    free_rendezvous_ = at;
  }

  Error deadlock() const {
    int64_t waiting = 0;
    std::string first;
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const RankState& rank = ranks_[r];
      if (rank.state == State::finished || waiting++ > 0) continue;
      first = rank.state == State::waits_to_send
                  ? fmt::format("rank {} waits to send to {}", r, rank.step.peer)
              : rank.state == State::waits_for_node
                  ? fmt::format("rank {} waits for its node", r)
                  : fmt::format("rank {} waits for its messages", r);
    }
    if (const auto left = matching_.first_waiting(); left && left->side == Matching::Side::receive)
      first += fmt::format("; rank {} receives from {} in vain", left->target, left->source);
    return {EDEADLK, fmt::format("deadlock of {} of {} ranks: {}", waiting, ranks_.size(), first)};
  }

  struct Word {
    Packet packet;
    uint64_t number;
    bool operator<(const Word& other) const {  // of a priority queue: the latest is the least
      if (packet.time != other.packet.time) return packet.time > other.packet.time;
      return number > other.number;
    }
  };

  const placement::Placement& placement_;
  const Machine& machine_;
  const MessageCosts costs_;
  const Network& network_;
  const Options& options_;
  std::vector<RankState> ranks_;
  std::vector<std::deque<Packet>> links_;  // what is before each of them or on it, by time
  std::vector<Time> link_free_;
  Storage storage_;
  NodeMeetings meetings_;
  std::deque<Packet> local_;  // eager messages and requests inside nodes, by time
  std::priority_queue<Word> words_;
  uint64_t word_number_ = 0;
  std::vector<Rendezvous> rendezvous_;
  int32_t free_rendezvous_ = -1;
  Matching matching_;
  PairsSeen pairs_;
  EventQueue events_;
  std::vector<ExchangeLog> logs_;  // by rank, if anybody wants to know
  Time now_ = 0;
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
