#include "support/checking_executor.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "plan/paced_steps.h"
#include "support/random_placement.h"

namespace haichi::test {
namespace {

using plan::Buffers;
using plan::Schedule;
using plan::Slice;
using plan::Step;
using Bytes = std::vector<std::byte>;

constexpr std::byte kPoison{0xdb};
constexpr int kRanksNamed = 8;  // in one message

// A receive that was issued and not waited for.
struct Receive {
  int peer;
  int64_t round;
  int64_t step;
  Slice to;
  bool order_free;
  std::byte* direct;  // where a real MPI would write by itself; null: the bytes go through scatter
  bool matched = false;
  bool delivered = false;
  Bytes payload;
};

struct Send {
  int64_t round;
  int64_t step;
  Slice from;
  int64_t packed;  // bytes that had to be
  bool eager;
  Bytes payload;  // of an eager send
};

// What is issued from one rank to another and not matched: only sends, or only receives.
struct Queue {
  std::vector<Send> sends;
  std::vector<Receive*> receives;  // of the destination
  size_t taken = 0;                // from the front of whichever is in use
  bool used_up() const { return taken == sends.size() + receives.size(); }
};

enum class State { running, waits_to_send, waits, waits_for_node, finished };

// A schedule that counts how often it is asked for a step.
class Counted : public Schedule {
 public:
  explicit Counted(Schedule& whole) : whole_(whole) {}
  bool next(Step& step) override {
    ++asked_;
    return whole_.next(step);
  }
  int max_outstanding() const override { return whole_.max_outstanding(); }
  int64_t asked() const { return asked_; }

 private:
  Schedule& whole_;
  int64_t asked_ = 0;
};

struct Rank {
  Rank(Schedule& of, Buffers& bytes, plan::Pace pace)
      : schedule(std::make_unique<Counted>(of)), paced(*schedule, pace), buffers(&bytes) {}
  // The step that was taken from the schedule last, counted from 0.
  int64_t place() const { return schedule->asked() - 1; }

  std::unique_ptr<Counted> schedule;
  plan::PacedSteps paced;
  Buffers* buffers;
  State state = State::running;
  Step step;                    // the current one
  bool pending = false;         // it was taken from the schedule and is not done
  bool ended = false;           // the schedule has no more; the current step is the wait at its end
  int64_t meetings = 0;         // come to so far
  bool arrived = false;         // at one that was not waited for
  std::map<int64_t, int> open;  // sends outstanding and receives not matched, by round
  std::list<Receive> receives;  // not waited for
  std::optional<Step> access;   // of the file, begun and not waited for
  bool accessed = false;        // it was carried out
  std::map<std::byte*, std::byte*> direct;  // begin -> end of what outstanding receives may write
};

class Run {
 public:
  Run(const std::vector<Schedule*>& schedules, const std::vector<Buffers*>& buffers,
      const CheckOptions& options, CheckTally& tally)
      : random_(options.seed),
        completion_(options.completion),
        tally_(tally),
        nodes_(options.nodes) {
    // Here every receive stands back and one packed message is under way, there only what is large.
    constexpr int64_t kLarge[] = {1, 40, plan::Pace{}.large};
    constexpr int64_t kMostPacked[] = {1, 100, plan::Pace{}.most_packed};
    const plan::Pace pace{kLarge[random_.below(3)], kMostPacked[random_.below(3)]};
    for (size_t r = 0; r < schedules.size(); ++r) {
      ranks_.emplace_back(*schedules[r], *buffers[r], pace);
      runnable_.push_back(int(r));
    }
    // Of 64 turns, how many the rank that moved last keeps: from fair turns to runs until blocked.
    constexpr int64_t kStay[] = {0, 32, 63};
    stay_ = kStay[random_.below(3)];
  }

  Status to_the_end() {
    size_t at = 0;
    while (!runnable_.empty()) {
      if (at >= runnable_.size() || random_.below(64) >= stay_)
        at = size_t(random_.below(int64_t(runnable_.size())));
      Rank& rank = ranks_[size_t(runnable_[at])];
      if (auto done = advance(runnable_[at], rank); !done) return done;
      if (rank.state == State::running) continue;
      runnable_[at] = runnable_.back();  // waking others appends only, so `at` still holds
      runnable_.pop_back();
    }
    for (const Rank& rank : ranks_)
      if (rank.state != State::finished) return deadlock();
    return nothing_left();
  }

 private:
  // Takes the next step unless one is pending, and does it or leaves the rank waiting.
  Status advance(int r, Rank& rank) {
    if (!rank.pending) {
      const int64_t before = rank.schedule->asked();
      rank.ended = !rank.paced.next(rank.step);
      if (rank.ended) rank.step = Step{.kind = Step::Kind::wait, .round = INT64_MAX};
      rank.pending = true;
      tally_.steps += rank.schedule->asked() - before - rank.ended;
    }
    switch (rank.step.kind) {
      case Step::Kind::send:
        return send(r, rank);
      case Step::Kind::wait:
        wait(rank);
        return {};
      default:
        break;
    }
    rank.pending = false;
    switch (rank.step.kind) {
      case Step::Kind::node_meet:
        return meet(r, rank);
      case Step::Kind::node_arrive:
        if (std::exchange(rank.arrived, true))
          return fail(EPROTO, "rank {} arrives at step {} where it is already", r, rank.place());
        return arrive(r, rank);
      case Step::Kind::node_tell:
        rank.buffers->tell_node(rank.step.cell, rank.step.number);
        return {};
      case Step::Kind::node_sum:
        *rank.step.sum = rank.buffers->node_sum(rank.step.cell);
        return {};
      case Step::Kind::receive:
        return receive(r, rank, rank.step);
      case Step::Kind::copy:
        return copy(r, rank);
      case Step::Kind::round:
        return start_round(r, rank);
      case Step::Kind::file_wait:
        finish_file_access(rank);
        return {};
      default:
        return start_file_access(r, rank);
    }
  }

  // The file may be accessed at any time until it is waited for: now or as late as can be.
  Status start_file_access(int r, Rank& rank) {
    if (rank.access)
      return fail(EPROTO, "rank {} accesses the file at step {} while it does so already", r,
                  rank.place());
    rank.access = rank.step;
    rank.accessed = false;
    if (random_.below(2) == 0) access_file(rank);
    return {};
  }

  static void finish_file_access(Rank& rank) {
    access_file(rank);
    rank.access.reset();
    while (!rank.buffers->file_done()) std::this_thread::yield();
  }

  static void access_file(Rank& rank) {
    if (!rank.access || rank.accessed) return;
    rank.accessed = true;
    const Step& access = *rank.access;
    if (access.kind == Step::Kind::file_read)
      rank.buffers->read_file(access.to, access.file_begin);
    else
      rank.buffers->write_file(access.from, access.file_begin);
  }

  Status send(int r, Rank& rank) {
    const int peer = rank.step.peer;
    if (auto fine = check(r, rank, rank.step, rank.step.from, true); !fine) return fine;
    if (!rank.paced.may_send(to_pack(rank))) {
      rank.pending = !rank.paced.put_off(rank.step);
      if (rank.pending) rank.state = State::waits_to_send;
      return {};
    }
    rank.pending = false;
    Send issued{rank.step.round, rank.place(), rank.step.from, to_pack(rank), false, {}};
    issued.eager = completion_ == Completion::eager ||
                   (completion_ == Completion::either && random_.below(2) == 0);
    if (issued.eager) {
      auto bytes = read(r, rank, issued.from);
      if (!bytes) return tl::unexpected(bytes.error());
      issued.payload = std::move(*bytes);
    } else {
      rank.paced.sent(issued.packed);
      tally_.most_outstanding = std::max(tally_.most_outstanding, rank.paced.sends());
      ++rank.open[issued.round];
    }
    Queue& queue = queues_[key(r, peer)];
    if (queue.receives.empty()) {
      queue.sends.push_back(std::move(issued));
      return {};
    }
    Receive* const first = queue.receives[queue.taken++];
    if (queue.used_up()) queues_.erase(key(r, peer));
    return match(r, issued, peer, *first);
  }

  // Bytes of the rank's step, a send, that a real executor would have to pack.
  static int64_t to_pack(Rank& rank) {
    const Slice& from = rank.step.from;
    return from.size == 0 || rank.buffers->contiguous(from) ? 0 : from.size;
  }

  Status receive(int r, Rank& rank, const Step& step) {
    const Slice& to = step.to;
    const int peer = step.peer;
    if (auto fine = check(r, rank, step, to, true); !fine) return fine;
    Receive posted{peer, step.round, rank.place(), to, rank.buffers->order_free(to), nullptr};
    if (posted.order_free && to.size > 0) posted.direct = rank.buffers->contiguous(to);
    if (posted.direct) {
      if (auto fine = reserve(r, rank, posted); !fine) return fine;
      std::fill_n(posted.direct, to.size, kPoison);  // until the wait they may be anything
    }
    rank.receives.push_back(std::move(posted));
    ++rank.open[step.round];
    Queue& queue = queues_[key(peer, r)];
    if (queue.sends.empty()) {
      queue.receives.push_back(&rank.receives.back());
      return {};
    }
    const Send first = std::move(queue.sends[queue.taken++]);
    if (queue.used_up()) queues_.erase(key(peer, r));
    return match(peer, first, r, rank.receives.back());
  }

  // Both sides are there: the bytes go over, now or later, and whoever waited for this may go on.
  Status match(int source, const Send& send, int destination, Receive& receive) {
    Rank& from = ranks_[size_t(source)];
    Rank& to = ranks_[size_t(destination)];
    if (send.from.size != receive.to.size)
      return fail(EMSGSIZE, "rank {} sends {} bytes at step {}, but rank {} receives {} at step {}",
                  source, send.from.size, send.step, destination, receive.to.size, receive.step);
    receive.payload = send.payload;
    if (!send.eager) {
      auto bytes = read(source, from, send.from);
      if (!bytes) return tl::unexpected(bytes.error());
      receive.payload = std::move(*bytes);
      from.paced.send_done(send.packed);
      close(from, send.round);
    }
    ++tally_.messages;
    tally_.bytes += send.from.size;
    receive.matched = true;
    close(to, receive.round);
    if (receive.order_free && random_.below(2) == 0) deliver(to, receive);
    wake(source);
    wake(destination);
    return {};
  }

  static void close(Rank& rank, int64_t round) {
    const auto open = rank.open.find(round);
    if (--open->second == 0) rank.open.erase(open);
  }

  static bool may_pass(const Rank& rank, int64_t round) {
    return rank.open.empty() || rank.open.begin()->first > round;
  }

  void wait(Rank& rank) {
    const int64_t round = rank.step.round;
    if (!may_pass(rank, round)) {
      rank.state = State::waits;
      return;
    }
    std::vector<Receive*> late;  // order_free, and in no order
    for (Receive& each : rank.receives)
      if (each.round <= round && each.order_free && !each.delivered) late.push_back(&each);
    random_.shuffle(late);
    for (Receive* each : late) deliver(rank, *each);
    for (Receive& each : rank.receives) {
      if (each.round > round) continue;
      if (!each.delivered) deliver(rank, each);
      rank.direct.erase(each.direct);
    }
    rank.receives.remove_if([&](const Receive& each) { return each.round <= round; });
    rank.pending = false;
    if (!rank.ended) return;
    finish_file_access(rank);
    rank.state = State::finished;
  }

  Status copy(int r, Rank& rank) {
    const Slice &from = rank.step.from, &to = rank.step.to;
    if (auto fine = check(r, rank, rank.step, from, false); !fine) return fine;
    if (from.size != to.size)
      return fail(EMSGSIZE, "rank {} copies {} bytes to {} at step {}", r, from.size, to.size,
                  rank.place());
    const std::byte* source = rank.buffers->contiguous(from);
    const std::byte* target = rank.buffers->contiguous(to);
    if (source && target && source < target + to.size && target < source + from.size)
      return fail(EINVAL, "rank {} copies between overlapping bytes at step {}", r, rank.place());
    const auto bytes = read(r, rank, from);
    if (!bytes) return tl::unexpected(bytes.error());
    rank.buffers->scatter(to, bytes->data());
    return {};
  }

  // The message of a rank that goes on while it may not.
  Status outstanding(int r, const Rank& rank, std::string_view what) const {
    return fail(EPROTO, "rank {} {} at step {} with {} sends and {} receives outstanding", r, what,
                rank.place(), rank.paced.sends(), rank.receives.size());
  }

  /// True if messages of rounds before `round` are not waited for.
  static bool owes(const Rank& rank, int64_t round) {
    return !may_pass(rank, round - 1) ||
           std::any_of(rank.receives.begin(), rank.receives.end(),
                       [&](const Receive& each) { return each.round < round; });
  }

  Status start_round(int r, Rank& rank) {
    if (owes(rank, rank.step.round - 1))
      return outstanding(r, rank, fmt::format("begins round {}", rank.step.round));
    rank.buffers->start_round(rank.step.round);
    return {};
  }

  Status meet(int r, Rank& rank) {
    if (owes(rank, rank.step.round)) return outstanding(r, rank, "meets its node");
    if (!std::exchange(rank.arrived, false))
      if (auto done = arrive(r, rank); !done) return done;
    if (meetings_[nodes_[size_t(r)]].held < rank.meetings) rank.state = State::waits_for_node;
    return {};
  }

  Status arrive(int r, Rank& rank) {
    if (size_t(r) >= nodes_.size())
      return fail(EINVAL, "rank {} meets its node at step {}, but no nodes were given", r,
                  rank.place());
    const int node = nodes_[size_t(r)];
    Meeting& meeting = meetings_[node];
    ++rank.meetings;
    const bool last = ++meeting.arrived == std::count(nodes_.begin(), nodes_.end(), node);
    if (!last) return {};
    meeting = {.held = rank.meetings};
    for (size_t other = 0; other < ranks_.size(); ++other) {
      if (nodes_[other] != node || ranks_[other].state != State::waits_for_node) continue;
      ranks_[other].state = State::running;
      runnable_.push_back(int(other));
    }
    return {};
  }

  Status check(int r, const Rank& rank, const Step& step, const Slice& slice, bool has_peer) const {
    if (has_peer && (step.peer < 0 || size_t(step.peer) >= ranks_.size()))
      return fail(EINVAL, "rank {} names peer {} of {} ranks at step {}", r, step.peer,
                  ranks_.size(), rank.place());
    if (slice.size < 0)
      return fail(EINVAL, "rank {} moves {} bytes at step {}", r, slice.size, rank.place());
    return {};
  }

  // The bytes of a slice, seen both ways if there are two.
  Result<Bytes> read(int r, Rank& rank, const Slice& slice) {
    Bytes bytes(size_t(slice.size));
    rank.buffers->gather(slice, bytes.data());
    const std::byte* contiguous = rank.buffers->contiguous(slice);
    if (contiguous && slice.size > 0 && memcmp(contiguous, bytes.data(), bytes.size()) != 0)
      return fail(EINVAL,
                  "rank {}: contiguous() and gather() disagree on bytes [{}, +{}) of buffer "
                  "{}",
                  r, slice.begin, slice.size, slice.buffer);
    return bytes;
  }

  // Claims the memory that an outstanding receive writes.
  Status reserve(int r, Rank& rank, const Receive& posted) {
    std::byte* const end = posted.direct + posted.to.size;
    const auto behind = rank.direct.lower_bound(end);
    if (behind != rank.direct.begin() && std::prev(behind)->second > posted.direct)
      return fail(EINVAL,
                  "rank {} receives at step {} into bytes that another receive may be "
                  "writing, though they are called order_free",
                  r, posted.step);
    rank.direct.emplace_hint(behind, posted.direct, end);
    return {};
  }

  void deliver(Rank& rank, Receive& receive) {
    if (receive.direct)
      std::copy(receive.payload.begin(), receive.payload.end(), receive.direct);
    else
      rank.buffers->scatter(receive.to, receive.payload.data());
    receive.delivered = true;
    Bytes().swap(receive.payload);
  }

  void wake(int r) {
    Rank& rank = ranks_[size_t(r)];
    const bool may_go =
        (rank.state == State::waits_to_send && rank.paced.may_send(to_pack(rank))) ||
        (rank.state == State::waits && may_pass(rank, rank.step.round));
    if (!may_go) return;
    rank.state = State::running;
    runnable_.push_back(r);
  }

  // What each of the waiting ranks waits for; the first of them by name.
  Status deadlock() const {
    std::string text;
    int named = 0, waiting = 0;
    for (size_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].state == State::finished) continue;
      ++waiting;
      if (named == kRanksNamed) continue;
      text += (named == 0 ? ": " : "; ") + plight(int(r));
      ++named;
    }
    if (waiting > named) text += fmt::format("; and {} more", waiting - named);
    return fail(EDEADLK, "deadlock of {} of {} ranks{}", waiting, ranks_.size(), text);
  }

  std::string plight(int r) const {
    const Rank& rank = ranks_[size_t(r)];
    if (rank.state == State::waits_to_send)
      return fmt::format("rank {} at step {} waits to send to {} with {} sends outstanding", r,
                         rank.place(), rank.step.peer, rank.paced.sends());
    if (rank.state == State::waits_for_node)
      return fmt::format("rank {} at step {} waits for its node", r, rank.place());
    std::string text =
        fmt::format("rank {} at {} waits for", r,
                    rank.ended ? std::string("its end") : fmt::format("step {}", rank.place()));
    const auto unmatched = [](const Receive& each) { return !each.matched; };
    const auto first = std::find_if(rank.receives.begin(), rank.receives.end(), unmatched);
    if (first != rank.receives.end())
      return text + fmt::format(" {} receives, the first from {} (step {})",
                                std::count_if(first, rank.receives.end(), unmatched), first->peer,
                                first->step);
    for (int peer = 0; size_t(peer) < ranks_.size(); ++peer) {
      const auto found = queues_.find(key(r, peer));
      if (found == queues_.end()) continue;
      for (size_t i = found->second.taken; i < found->second.sends.size(); ++i)
        if (const Send& send = found->second.sends[i]; !send.eager)
          return text +
                 fmt::format(" {} sends, one to {} (step {})", rank.paced.sends(), peer, send.step);
    }
    return text + " nothing";
  }

  Status nothing_left() const {
    if (queues_.empty()) return {};
    uint64_t least = UINT64_MAX;
    for (const auto& [pair, queue] : queues_) least = std::min(least, pair);
    const Queue& queue = queues_.at(least);
    return fail(EPROTO,
                "rank {} never received what rank {} sent at step {}; {} pairs have such messages",
                least % ranks_.size(), least / ranks_.size(), queue.sends[queue.taken].step,
                queues_.size());
  }

  uint64_t key(int source, int destination) const {
    return uint64_t(source) * ranks_.size() + uint64_t(destination);
  }

  Random random_;
  Completion completion_;
  CheckTally& tally_;
  const std::vector<int> nodes_;
  struct Meeting {
    int arrived = 0;   // ranks, at the next one
    int64_t held = 0;  // so far
  };
  std::map<int, Meeting> meetings_;  // by node
  int64_t stay_ = 0;
  std::vector<Rank> ranks_;
  std::vector<int> runnable_;
  std::unordered_map<uint64_t, Queue> queues_;  // by key(source, destination); none is used up
};

}  // namespace

Status run_checked(const std::vector<Schedule*>& schedules, const std::vector<Buffers*>& buffers,
                   const CheckOptions& options, CheckTally* tally) {
  if (schedules.size() != buffers.size())
    return fail(EINVAL, "{} schedules, but {} buffers", schedules.size(), buffers.size());
  CheckTally unused;
  return Run(schedules, buffers, options, tally ? *tally : unused).to_the_end();
}

}  // namespace haichi::test
