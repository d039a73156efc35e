#include "predict/engine.h"

#include <errno.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "predict/books.h"
#include "predict/collective_steps.h"
#include "predict/collective_stretch.h"
#include "predict/meetings.h"
#include "predict/strand.h"
#include "predict/traffic.h"
#include "predict/waits.h"
#include "sim/event_queue.h"

namespace haichi::predict {
namespace {

using record::Event;
using sim::Time;
using Phase = Strand::Phase;

// What collective calls send must meet no message of the program's.
Envelope inner_envelope(size_t comm, int source, uint64_t number, bool beside) {
  return {-2 - int32_t(comm), source, beside ? int32_t(number & 0x3FFFFFFF) + 1 : 0};
}

class Run : Traffic::Listener {
 public:
  Run(const Job& job, const Costs& costs, const sim::Network& network, const Options& options)
      : job_(job),
        costs_(costs),
        options_(options),
        traffic_(*job.placement, network, paths_, *this),
        meetings_(job.communicators, *job.placement),
        books_(job),
        waits_(traffic_, books_, keys_, paths_, options.path),
        stretches_(costs,
                   [](const Job& alone, const Costs& its, Stretch stretch) {
                     const auto outcome =
                         predict::run(alone, its, {.path = false, .calls = stretch});
                     return outcome ? outcome->end() : 0;
                   }),
        known_stretches_(job.sequences.size()),
        events_(job.sequences.size()) {
    for (size_t r = 0; r < job.sequences.size(); ++r) {
      Strand& strand = strands_.emplace_back();
      strand.rank = int(r);
      strand.calls.emplace(*job.sequences[r]);
      events_.set(uint32_t(r), 0);
    }
  }

  Outcome to_the_end() {
    while (!events_.empty() || traffic_.moves()) {
      if (traffic_.moves() && (events_.empty() || traffic_.next_time() <= events_.time())) {
        now_ = traffic_.next_time();
        traffic_.move();
      } else {
        const uint32_t actor = events_.actor();
        now_ = events_.time();
        events_.remove(actor);
        go_on(actor);
      }
    }
    return books_.close(strands_, traffic_, job_, keys_, stretches_.notes());
  }

 private:
  // Acts for the strand until others have their turn, or it waits.
  void go_on(uint32_t number) {
    while (act(number)) {
      const Time clock = strands_[number].clock;
      const bool others = (!events_.empty() && events_.time() < clock) ||
                          (traffic_.moves() && traffic_.next_time() <= clock);
      if (others) return events_.set(number, clock);
      now_ = clock;
    }
  }

  // One action, at the strand's clock; false if it has to wait, or is over.
  bool act(uint32_t number) {
    Strand& strand = strands_[number];
    switch (strand.phase) {
      case Phase::fetch:
        return fetch(strand);
      case Phase::begin:
        return begin(number);
      case Phase::inject:
        return inject(number);
      case Phase::start:
        start(strand);
        return true;
      case Phase::inject_start:
        inject_start(strand);
        return true;
      case Phase::enter:
        return enter(number);
      case Phase::step:
        return step(number);
      case Phase::inject_step:
        send_step(strand);
        return true;
      case Phase::leave:
        return leave(number);
      case Phase::finish:
        books_.finish(strand);
        strand.phase = Phase::fetch;
        return true;
      case Phase::ended:
      case Phase::halted:
        break;
    }
    return false;
  }

  const Event& event_of(const Strand& strand) const {
    return job_.sequences[size_t(strand.rank)]->events[size_t(strand.event)];
  }

  bool fetch(Strand& strand) {
    const auto next = strand.calls->next();
    if (!next) {
      strand.phase = Phase::ended;
      books_.end(strand);
      return false;
    }
    ++books_.events;
    strand.event = *next;
    const auto& shape = books_.shape(strand.rank, *next);
    strand.call = shape.call;
    strand.function = shape.function;
    const Time computing = Time(event_of(strand).compute_s * options_.compute_scale * 1e12 + 0.5);
    strand.phase = Phase::begin;
    if (computing <= 0) return true;
    spend(strand, computing, Books::kComputing, PathKeys::kNoPlace);
    books_.ranks[size_t(strand.rank)].computing += computing;
    return true;
  }

  void spend(Strand& strand, Time time, int function, int place) {
    strand.clock += time;
    if (options_.path) strand.path.add(keys_.key(function, place), {time, 0, 0});
  }
  int32_t keep(const Strand& strand) { return options_.path ? paths_.keep(strand.path) : -1; }

  // --- calls -----------------------------------------------------------------------------------

  bool begin(uint32_t number) {
    Strand& strand = strands_[number];
    const Event& event = event_of(strand);
    strand.began = strand.clock;
    strand.waiting = 0;
    strand.phase = Phase::finish;
    switch (strand.call.act) {
      case Act::nothing:
        return true;
      case Act::as_recorded: {
        const Time took = Time(std::max(0.0, event.took_s) * 1e12 + 0.5);
        spend(strand, took, strand.function, PathKeys::kNoPlace);
        books_.ranks[size_t(strand.rank)].recorded += took;
        return true;
      }
      case Act::receive:
        return receive(number, event.peer, event.tag);
      case Act::send_receive:
        if (event.from != -1) exchange(strand, post(strand, event.from, event.from_tag));
        if (event.peer < 0) return wait(number, Phase::finish);
        return prepare(strand, event);
      case Act::send:
      case Act::put:
      case Act::get:
        return event.peer < 0 || prepare(strand, event);
      case Act::make:
        if (event.request < 0) return true;
        if (size_t(event.request) >= strand.persistent.size())
          strand.persistent.resize(size_t(event.request) + 1, -1);
        strand.persistent[size_t(event.request)] = strand.event;
        return true;
      case Act::start:
        strand.started = 0;
        strand.phase = Phase::start;
        return true;
      case Act::free:
        for (const int slot : event.completes)
          if (size_t(slot) < strand.persistent.size()) strand.persistent[size_t(slot)] = -1;
        return true;
      case Act::wait:
        for (const int slot : event.completes) take_slot(strand, slot);
        return wait(number, Phase::finish);
      case Act::flush:
        strand.waits.swap(strand.one_sided);
        return wait(number, Phase::finish);
      case Act::fence:
        strand.waits.swap(strand.one_sided);
        return wait(number, Phase::enter);
      case Act::collective:
        if (!strand.call.blocking) return begin_beside(number);
        strand.phase = Phase::enter;
        return true;
    }
    return true;
  }

  // The processor's work for a message that is about to go. `measured`: the call's stretch;
  // `alone`: no other call goes through the same ports at a time, whose rates nobody may have
  // measured.
  void work_for_message(Strand& strand, int peer, int64_t bytes,
                        std::optional<Stretch> measured = {}, bool alone = false) {
    const Way way = costs_.way(strand.rank, peer);
    const MessageCost cost = costs_.message(way, std::max<int64_t>(0, bytes));
    spend(strand, cost.times(measured.value_or(Stretch())).send, strand.function, int(way));
    const bool told = measured && (alone || way != Way::network);
    if (!told && !costs_.measured(way)) books_.by_numbers(strand.function);
  }

  bool prepare(Strand& strand, const Event& event) {
    if (event.peer >= job_.placement->ranks())
      return halt(strand, fmt::format("has a message for rank {}, and there are {} ranks",
                                      event.peer, job_.placement->ranks()));
    work_for_message(strand, event.peer, event.bytes);
    strand.phase = Phase::inject;
    return true;
  }

  bool inject(uint32_t number) {
    Strand& strand = strands_[number];
    const Event& event = event_of(strand);
    strand.phase = Phase::finish;
    const Way way = costs_.way(strand.rank, event.peer);
    const int64_t bytes = std::max<int64_t>(0, event.bytes);
    Traffic::Sending sending{
        strand.rank, event.peer,  bytes, strand.call.mode, costs_.message(way, bytes),
        way,         keep(strand)};
    if (strand.call.act == Act::put || strand.call.act == Act::get) {
      // What is got is asked for first.
      if (strand.call.act == Act::get) {
        std::swap(sending.source, sending.target);
        sending.cost.way += costs_.message(way, 0).way;
      }
      const int32_t request = traffic_.put(now_, sending);
      if (strand.call.blocking)
        strand.one_sided.push_back(request);
      else
        put_slot(strand, event.request, request);
      return true;
    }
    const int32_t request =
        traffic_.send(now_, sending, {event.comm, strand.rank, std::max(0, event.tag)});
    if (!strand.call.blocking) {
      // A begun exchange is over when its receive is.
      put_slot(strand, strand.call.act == Act::send_receive ? -1 : event.request, request);
      return true;
    }
    if (request >= 0) strand.waits.push_back(request);
    return wait(number, Phase::finish);
  }

  int32_t post(Strand& strand, int from, int tag) {
    const Event& event = event_of(strand);
    // Only the path of what may be a rendezvous can hang on the receiver.
    const bool may_wait = event.bytes < 0 || double(event.bytes) > costs_.machine().eager_bytes;
    return traffic_.receive(now_, strand.rank, {event.comm, from, tag},
                            may_wait ? keep(strand) : -1);
  }

  bool receive(uint32_t number, int from, int tag) {
    Strand& strand = strands_[number];
    if (from == -1) return true;
    const int32_t request = post(strand, from, tag);
    spend(strand, costs_.posting(), strand.function, PathKeys::kNoPlace);
    if (!strand.call.blocking) {
      put_slot(strand, event_of(strand).request, request);
      return true;
    }
    strand.waits.push_back(request);
    return wait(number, Phase::finish);
  }

  // The receive of a call that sends too.
  void exchange(Strand& strand, int32_t receive) {
    if (strand.call.blocking)
      strand.waits.push_back(receive);
    else
      put_slot(strand, event_of(strand).request, receive);
  }

  // The event that made the persistent request whose turn it is to be started, or null.
  const Event* made(const Strand& strand) const {
    const int slot = event_of(strand).completes[strand.started];
    if (slot < 0 || size_t(slot) >= strand.persistent.size()) return nullptr;
    const int event = strand.persistent[size_t(slot)];
    if (event < 0) return nullptr;
    const Event& its = job_.sequences[size_t(strand.rank)]->events[size_t(event)];
    return its.peer == -1 || its.peer >= job_.placement->ranks() ? nullptr : &its;
  }

  void start(Strand& strand) {
    for (; strand.started < event_of(strand).completes.size(); ++strand.started) {
      const Event* const its = made(strand);
      if (its == nullptr) continue;
      if (call_of(its->call).makes == Act::receive) {
        const int32_t request =
            traffic_.receive(now_, strand.rank, {its->comm, its->peer, its->tag}, keep(strand));
        put_slot(strand, its->request, request);
        continue;
      }
      work_for_message(strand, its->peer, its->bytes);
      strand.phase = Phase::inject_start;
      return;
    }
    strand.phase = Phase::finish;
  }

  void inject_start(Strand& strand) {
    const Event& its = *made(strand);
    const Way way = costs_.way(strand.rank, its.peer);
    const int64_t bytes = std::max<int64_t>(0, its.bytes);
    const int32_t request = traffic_.send(now_,
                                          {strand.rank, its.peer, bytes, call_of(its.call).mode,
                                           costs_.message(way, bytes), way, keep(strand)},
                                          {its.comm, strand.rank, std::max(0, its.tag)});
    put_slot(strand, its.request, request);
    ++strand.started;
    strand.phase = Phase::start;
  }

  void put_slot(Strand& strand, int slot, int32_t request) {
    if (slot < 0) {
      if (request >= 0) traffic_.release(request);
      return;
    }
    if (size_t(slot) >= strand.slots.size()) strand.slots.resize(size_t(slot) + 1, -1);
    int32_t& held = strand.slots[size_t(slot)];
    if (held >= 0) traffic_.release(held);  // it was freed, which is not recorded
    held = request;
  }

  void take_slot(Strand& strand, int slot) {
    if (slot < 0 || size_t(slot) >= strand.slots.size()) return;
    const int32_t request = std::exchange(strand.slots[size_t(slot)], -1);
    if (request >= 0) strand.waits.push_back(request);
  }

  // --- waiting ---------------------------------------------------------------------------------

  // For all of strand.waits.
  bool wait(uint32_t number, Phase after) {
    Strand& strand = strands_[number];
    strand.after = after;
    strand.pending = 0;
    for (const int32_t each : strand.waits) {
      Request& request = traffic_.request(each);
      if (request.complete) continue;
      request.waiter = int32_t(number);
      ++strand.pending;
    }
    if (strand.pending > 0) return false;
    waits_.resolve(strand);
    return true;
  }

  void completed(int32_t number) override {
    const int32_t waiter = traffic_.request(number).waiter;
    Strand& strand = strands_[size_t(waiter)];
    if (--strand.pending > 0) return;
    waits_.resolve(strand);
    events_.set(uint32_t(waiter), std::max(now_, strand.clock));
  }

  // --- collective calls ------------------------------------------------------------------------

  // The call goes on by itself, and the rank too.
  bool begin_beside(uint32_t number) {
    const int32_t request = traffic_.open_request();
    const uint32_t made = new_strand();
    Strand& strand = strands_[number];
    put_slot(strand, event_of(strand).request, request);
    Strand& other = strands_[made];
    other.rank = strand.rank;
    other.beside = true;
    other.phase = Phase::enter;
    other.clock = other.began = strand.clock;
    other.path = strand.path;
    other.event = strand.event;
    other.call = strand.call;
    other.function = strand.function;
    other.request = request;
    events_.set(made, other.clock);
    return true;
  }

  uint32_t new_strand() {
    if (!free_strands_.empty()) {
      const uint32_t at = free_strands_.back();
      free_strands_.pop_back();
      strands_[at] = {};
      return at;
    }
    strands_.emplace_back();
    events_.grow(strands_.size());
    return uint32_t(strands_.size()) - 1;
  }

  bool enter(uint32_t number) {
    Strand& strand = strands_[number];
    const Event& event = event_of(strand);
    const bool fence = strand.call.act == Act::fence;
    const auto comm = meetings_.find(fence && event.comm < 0 ? 0 : event.comm, strand.rank);
    if (!comm)
      return halt(strand, fmt::format("calls {} on communicator {}, of which the record says "
                                      "nothing, or not that it is in it",
                                      event.call, event.comm));
    Members& members = meetings_.members(*comm);
    const int me = members.place[strand.rank];
    strand.comm = *comm;
    const int ranks = members.placement.ranks();
    const int64_t given = std::max<int64_t>(0, event.bytes);
    const int64_t bytes = strand.call.per_peer ? given : given / ranks;
    const auto [call, meeting] = meetings_.come(*comm, strand.rank, strand.function, bytes,
                                                event.root == strand.rank, strand.clock);
    strand.number = call;
    if (meeting->function != strand.function)
      return halt(strand,
                  fmt::format("comes to {} on communicator {} where rank {} came to {}", event.call,
                              event.comm, meeting->first, books_.function(meeting->function)));
    const auto root = members.place.find(event.root);
    const CollectiveCall its{fence ? Collective::barrier : strand.call.collective,
                             me,
                             root == members.place.end() ? 0 : root->second,
                             bytes,
                             meeting->bytes,
                             options_.exchange ? &*options_.exchange : nullptr};
    strand.schedule = schedule_of(its, members.placement);
    // What the library takes says little of another algorithm.
    const bool own = goes_as_wanted(its) && !options_.exchange_as_measured;
    strand.stretch = own ? std::nullopt : stretch(strand, members);
    strand.phase = Phase::step;
    return true;
  }

  // As messages of the call are stretched, if it was measured; looked up once for each event.
  std::optional<Stretch> stretch(const Strand& strand, const Members& members) {
    if (options_.calls) return options_.calls;
    auto& known = known_stretches_[size_t(strand.rank)];
    if (known.empty()) known.resize(job_.sequences[size_t(strand.rank)]->events.size());
    auto& its = known[size_t(strand.event)];
    if (its) return *its;
    Event event = event_of(strand);
    if (strand.call.act == Act::fence) {  // which is a barrier behind the puts
      event = {};
      event.call = "MPI_Barrier";
    }
    return its.emplace(stretches_.of(event, members));
  }

  bool step(uint32_t number) {
    Strand& strand = strands_[number];
    plan::Step& next = strand.step;
    const std::vector<int>& ranks = meetings_.members(strand.comm).ranks;
    while (strand.schedule->next(next)) {
      switch (next.kind) {
        case plan::Step::Kind::send:
          work_for_message(strand, ranks[size_t(next.peer)], next.from.size, strand.stretch,
                           ranks.size() == job_.sequences.size());
          strand.phase = Phase::inject_step;
          return true;
        case plan::Step::Kind::receive: {
          const bool may_wait = double(next.to.size) > costs_.machine().eager_bytes;
          strand.waits.push_back(traffic_.receive(
              now_, strand.rank,
              inner_envelope(strand.comm, ranks[size_t(next.peer)], strand.number, strand.beside),
              may_wait ? keep(strand) : -1));
          break;
        }
        case plan::Step::Kind::copy:
          spend(strand,
                Time(double(costs_.copy(next.from.size)) * strand.stretch.value_or(Stretch()).rest),
                strand.function, PathKeys::kNoPlace);
          return true;
        case plan::Step::Kind::wait:
          if (strand.waits.empty()) break;
          return wait(number, Phase::step);
        default:  // no schedule of a call has others
          break;
      }
    }
    return wait(number, Phase::leave);
  }

  void send_step(Strand& strand) {
    const int peer = meetings_.members(strand.comm).ranks[size_t(strand.step.peer)];
    const Way way = costs_.way(strand.rank, peer);
    const int64_t bytes = strand.step.from.size;
    const int32_t request = traffic_.send(
        now_,
        {strand.rank, peer, bytes, Mode::standard,
         costs_.message(way, bytes).times(strand.stretch.value_or(Stretch())), way, keep(strand)},
        inner_envelope(strand.comm, strand.rank, strand.number, strand.beside));
    if (request >= 0) strand.waits.push_back(request);
    strand.phase = Phase::step;
  }

  bool leave(uint32_t number) {
    Strand& strand = strands_[number];
    const Meeting& meeting = meetings_.meeting(strand.comm, strand.number);
    if (!strand.beside) note_waiting(strand, meeting);
    meetings_.leave(strand.comm, strand.number);
    strand.schedule.reset();
    strand.phase = Phase::finish;
    if (!strand.beside) return true;
    strand.phase = Phase::ended;
    traffic_.end_request(strand.request, strand.clock, keep(strand));
    free_strands_.push_back(number);
    return false;
  }

  // Until who is needed has come.
  void note_waiting(Strand& strand, const Meeting& meeting) {
    const bool fence = strand.call.act == Act::fence;
    const Collective what = strand.call.collective;
    const Event& event = event_of(strand);
    const bool is_root = event.root == strand.rank;
    Time until = 0;
    int late = meeting.last_rank;
    if (fence || meets_all(what)) {
      until = meeting.last;
    } else if (what == Collective::bcast || what == Collective::scatter) {
      if (!is_root) until = meeting.root;
      late = event.root;
    } else if (is_root) {  // of a reduction or a gathering
      until = meeting.last;
    }
    const Time waited = std::clamp<Time>(until - strand.began, 0, strand.clock - strand.began);
    strand.waiting += waited;
    if (late >= 0) books_.ranks[size_t(late)].caused += waited;
  }

  // What the rank comes to makes no sense: it stops here, and whoever waits for it too.
  bool halt(Strand& strand, const std::string& why) {
    strand.phase = Phase::halted;
    books_.problem(fmt::format("rank {} {}", strand.rank, why));
    return false;
  }

  const Job& job_;
  const Costs& costs_;
  const Options options_;
  PathPool paths_;
  PathKeys keys_;
  Traffic traffic_;
  Meetings meetings_;
  Books books_;
  Waits waits_;
  CollectiveStretch stretches_;
  // By rank and event, once it was asked for.
  std::vector<std::vector<std::optional<std::optional<Stretch>>>> known_stretches_;
  std::vector<Strand> strands_;  // the ranks first
  std::vector<uint32_t> free_strands_;
  sim::EventQueue events_;
  Time now_ = 0;
};

Status check(const Job& job) {
  const auto ranks = size_t(job.placement->ranks());
  if (job.sequences.size() != ranks)
    return fail(EINVAL, "{} sequences for {} ranks", job.sequences.size(), ranks);
  for (const Communicator& each : job.communicators)
    for (const int rank : each.members)
      if (rank < 0 || size_t(rank) >= ranks)
        return fail(EINVAL, "communicator {} has rank {}, and there are {} ranks", each.id, rank,
                    ranks);
  return {};
}

}  // namespace

Result<Outcome> run(const Job& job, const Costs& costs, const Options& options) {
  if (auto done = check(job); !done) return tl::unexpected(done.error());
  const auto network = sim::make_network(costs.machine(), job.placement->nodes());
  if (!network) return tl::unexpected(network.error());
  return Run(job, costs, **network, options).to_the_end();
}

}  // namespace haichi::predict
