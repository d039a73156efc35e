#include "goal/write_goal.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <system_error>

#include "goal/messages.h"
#include "goal/tags.h"
#include "replay/plan.h"
#include "replay/shares.h"

namespace haichi::goal {
namespace {

using record::Communicator;
using record::Event;
using record::Record;
using record::Sequence;
using replay::Form;
using replay::Kind;
using replay::Step;

// An operation that another requires: to be over, or only to have begun.
struct Required {
  uint64_t label;
  bool begun = false;
};

// Writes the operations of one rank.
class RankWriter {
 public:
  RankWriter(const Record& record, const Tags& tags, replay::RankPlan plan, int rank, FILE* out)
      : record_(record),
        sequence_(*record.sequences[size_t(rank)]),
        tags_(tags),
        senders_(record, rank),
        rank_(rank),
        plan_(std::move(plan)),
        out_(out) {}

  uint64_t write() {
    record::Unfolded events(sequence_);
    while (const auto event = events.next()) add(size_t(*event));
    return last_label_;
  }

 private:
  void add(size_t index) {
    const Event& event = sequence_.events[index];
    const Step& step = plan_.steps[index];
    compute(event.compute_s);
    const bool persistent = step.function.form == Form::persistent;
    const bool plays = plan_.plays(step);
    switch (step.function.kind) {
      case Kind::send:
      case Kind::receive:
        if (persistent) made_by_[event.request] = int(index);
        if (plays && !persistent) message(event, step, step.function.form);
        return;
      case Kind::exchange:
        return exchange(event, step.function.form, plays,
                        step.plays_receive && plan_.may(step.receive_limit));
      case Kind::start:
        return start(event);
      case Kind::free_request:
        for (const int slot : event.completes) made_by_.erase(slot);
        return;
      case Kind::wait:
      case Kind::test:
        return wait(event);
      case Kind::collective:
      case Kind::new_comm:
        if (plays) collective(event, step);
        return;
      default:
        return;
    }
  }

  // Fractions of nanoseconds are carried on.
  void compute(double seconds) {
    owed_ns_ += seconds * 1e9;
    const double whole = std::floor(owed_ns_);
    if (whole < 1) return;
    owed_ns_ -= whole;
    fmt::print(out_, "l{}: calc {:.0f}\n", ++last_label_, whole);
    require(last_label_, after_);
    after_ = {{last_label_}};
  }

  void require(uint64_t label, const std::vector<Required>& what) {
    for (const Required& each : what)
      fmt::print(out_, "l{} {} l{}\n", label, each.begun ? "irequires" : "requires", each.label);
  }

  uint64_t put(bool sends, int peer, int64_t bytes, int tag, const std::vector<Required>& after) {
    fmt::print(out_, "l{}: {} {}b {} {} tag {}\n", ++last_label_, sends ? "send" : "recv",
               std::max<int64_t>(bytes, 1), sends ? "to" : "from", peer, tag);
    require(last_label_, after);
    return last_label_;
  }

  // The label of what an event sends or receives; 0 if it is with nobody.
  uint64_t put_message(const Event& event, bool sends) {
    const bool exchanges = event.from != -1 && !sends;
    const int peer = exchanges ? event.from : event.peer;
    const int tag = exchanges ? event.from_tag : event.tag;
    const int64_t bytes = exchanges ? event.from_bytes : event.bytes;
    if (peer == -1) return 0;
    if (sends) return put(true, peer, bytes, tags_.of(event.comm, tag), after_);
    Senders::Sender sender{peer, tag};
    if (peer == record::kAnyRank || tag == record::kAnyTag)
      sender = senders_.next(event.comm, peer, tag);
    if (sender.rank < 0) return 0;
    return put(false, sender.rank, bytes, tags_.of(event.comm, sender.tag), after_);
  }

  void message(const Event& event, const Step& step, Form form) {
    const uint64_t label = put_message(event, step.function.kind == Kind::send);
    if (label == 0) return;
    const bool goes_on = form != Form::blocking || step.function.buffered;
    after_ = {{label, goes_on}};
    if (form != Form::blocking) slots_[event.request] = {{label}};
  }

  void exchange(const Event& event, Form form, bool sends, bool receives) {
    const bool goes_on = form != Form::blocking;
    std::vector<Required> both;
    if (sends)
      if (const uint64_t label = put_message(event, true)) both.push_back({label, goes_on});
    if (receives && event.from != -1)
      if (const uint64_t label = put_message(event, false)) both.push_back({label, goes_on});
    if (both.empty()) return;
    after_ = both;
    if (!goes_on) return;
    for (Required& each : both) each.begun = false;
    slots_[event.request] = std::move(both);
  }

  void start(const Event& event) {
    for (const int slot : event.completes) {
      const auto made = made_by_.find(slot);
      if (made == made_by_.end()) continue;
      const Step& step = plan_.steps[size_t(made->second)];
      if (step.plays && plan_.may(step.limit))
        message(sequence_.events[size_t(made->second)], step, Form::nonblocking);
    }
  }

  void wait(const Event& event) {
    for (const int slot : event.completes) {
      const auto begun = slots_.find(slot);
      if (begun == slots_.end()) continue;
      after_.insert(after_.end(), begun->second.begin(), begun->second.end());
      slots_.erase(begun);
    }
  }

  void collective(const Event& event, const Step& step) {
    const Communicator& comm = *record_.communicator(event.comm);
    const auto place = [&](int rank) {
      return int(std::find(comm.members.begin(), comm.members.end(), rank) - comm.members.begin());
    };
    const bool makes = step.function.kind == Kind::new_comm;
    const auto which = makes ? replay::Collective::barrier : step.function.collective;
    const replay::Sums* sums = nullptr;
    if (replay::is_varying(which))
      sums = &varying_.try_emplace(comm.id, record_, comm).first->second.next();
    const auto rounds = rounds_of({which, place(rank_), int(comm.members.size()),
                                   event.root < 0 ? 0 : place(event.root),
                                   std::max<int64_t>(event.bytes, 0), sums, comm});
    std::vector<Required> over = after_;
    for (const Round& round : rounds) {
      std::vector<Required> done;
      for (const Message& each : round)
        done.push_back({put(each.sends, comm.members[size_t(each.peer)], each.bytes,
                            tags_.of_collectives(comm.id), over)});
      if (!done.empty()) over = std::move(done);
    }
    if (step.function.form == Form::nonblocking)
      slots_[event.request] = std::move(over);
    else
      after_ = std::move(over);
  }

  const Record& record_;
  const Sequence& sequence_;
  const Tags& tags_;
  Senders senders_;
  const int rank_;
  replay::RankPlan plan_;
  FILE* const out_;
  uint64_t last_label_ = 0;
  double owed_ns_ = 0;
  std::vector<Required> after_;  // what the next operation requires
  std::map<int, std::vector<Required>> slots_;
  std::map<int, int> made_by_;  // slot of a persistent request -> event
  std::map<int, replay::VaryingCalls> varying_;
};

uint64_t write_ranks(const Record& record, replay::Plan& plan, FILE* out) {
  const Tags tags(record);
  uint64_t operations = 0;
  fmt::print(out, "num_ranks {}\n", record.ranks);
  for (int rank = 0; rank < record.ranks; ++rank) {
    fmt::print(out, "\nrank {} {{\n", rank);
    if (record.sequences[size_t(rank)])
      operations += RankWriter(record, tags, plan.of(rank), rank, out).write();
    fmt::print(out, "}}\n");
  }
  return operations;
}

}  // namespace

Result<Written> write_goal(const Record& record, FILE* out, uint64_t most) {
  replay::Plan plan(record);
  if (plan.calls() == 0)
    return fail(EINVAL, "no sequences of calls; haichi run --record --sequence records them");
  if (plan.calls() > most)
    return fail(EFBIG, "{} calls are too many: GOAL has no loops, and {} is the most", plan.calls(),
                most);
  Written written{0, plan.told()};
  try {
    written.operations = write_ranks(record, plan, out);
  } catch (const std::system_error& error) {  // of fmt::print
    return fail(error.code().value(), "{}", strerror(error.code().value()));
  }
  if (fflush(out) != 0 || ferror(out) != 0) return fail(errno, "{}", strerror(errno));
  return written;
}

}  // namespace haichi::goal
