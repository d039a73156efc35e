#include "replay/plan.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "replay/stream.h"

namespace haichi::replay {
namespace {

using record::Communicator;
using record::Event;
using record::kAnyRank;
using record::kAnyTag;
using record::Record;
using record::Sequence;

constexpr int64_t kMostReduced = std::numeric_limits<int32_t>::max();
constexpr char kNoReceive[] = "their receives are not recorded";
constexpr char kNoSend[] = "their sends are not recorded";
constexpr char kPosted[] = "windows with MPI_Win_post and MPI_Win_start are not replayed";
constexpr char kWhoGets[] = "who receives them from any rank or tag is not recorded";
constexpr char kUnclear[] = "which of them a receive took that is left out is not recorded";
constexpr char kNotAll[] = "not all ranks of the communicator have recorded them in this order";

// Messages between two ranks that are received in the order in which they are sent.
struct Channel {
  uint64_t sent = 0, received = 0;
  int64_t most = 0;  // bytes
  uint64_t common() const { return std::min(sent, received); }
};

// All messages to a rank on a communicator.
struct Inbox {
  uint64_t sent = 0, received = 0;
  int64_t most = 0;
  bool any = false;      // some receive takes from any rank, or any tag
  bool unclear = false;  // some receive is left out, and nobody knows what it took
  // Then all messages are made or none.
  bool together() const { return any || unclear; }
  bool complete() const { return !unclear && sent == received; }
};

using ChannelKey = std::tuple<int, int, int, int>;  // communicator, from, to, tag
using InboxKey = std::pair<int, int>;               // communicator, to

uint64_t hash(uint64_t value, uint64_t before) {
  value = (value ^ before) * 0xbf58476d1ce4e5b9u;
  return (value ^ value >> 29) * 0x94d049bb133111ebu;
}

bool is_on_comm(Kind kind) {
  switch (kind) {
    case Kind::send:
    case Kind::receive:
    case Kind::exchange:
    case Kind::probe:
    case Kind::collective:
    case Kind::new_comm:
    case Kind::window:
    case Kind::file:
      return true;
    default:
      return false;
  }
}

bool is_member(const Communicator& comm, int rank) {
  return std::find(comm.members.begin(), comm.members.end(), rank) != comm.members.end();
}

// What all members of a communicator must have alike in a collective call; never 0.
uint64_t token_of(const Event& event, const Function& function) {
  uint64_t token = hash(std::hash<std::string>()(event.call), uint64_t(event.root + 1));
  const bool own_bytes = function.kind != Kind::collective || is_varying(function.collective);
  if (!own_bytes) token = hash(token, uint64_t(event.bytes));
  return token | 1;
}

}  // namespace

class Plan::Planner {
 public:
  explicit Planner(const Record& record) : record_(record), opened_on_(size_t(record.ranks)) {
    for (int rank = 0; rank < record_.ranks; ++rank) find_openings(rank);
    for (int rank = 0; rank < record_.ranks; ++rank) look_at(rank);
    for (auto& [key, inbox] : inboxes_) {
      inbox.unclear = inbox.unclear || unclear_ranks_.contains(key.second);
      if (inbox.together() && !inbox.complete())
        skip("messages", inbox.unclear ? kUnclear : kWhoGets, inbox.sent + inbox.received);
    }
    for (const auto& [key, channel] : channels_) skip_excess(key, channel);
    for (const Communicator& comm : record_.communicators) agree(comm);
    for (int rank = 0; rank < record_.ranks; ++rank) skip_windows(rank);
    for (auto& [what, times] : skipped_) told_.push_back({what.first, what.second, times});
  }

  RankPlan of(int rank) {
    rank_ = rank;
    mine_ = {};
    limits_.clear();
    mine_.largest_one_sided = largest_one_sided_;
    mine_.largest_in_file = largest_in_file_;
    if (record_.sequences[size_t(rank)]) make_steps(*record_.sequences[size_t(rank)]);
    return std::move(mine_);
  }

  uint64_t calls() const { return calls_; }
  const std::vector<Skipped>& skipped() const { return told_; }

 private:
  void skip(const std::string& call, const std::string& why, uint64_t times) {
    if (times > 0) skipped_[{call, why}] += times;
    calls_ -= std::min(calls_, times);
  }

  const Function& function(const Event& event) {
    const auto [found, is_new] = functions_.try_emplace(event.call);
    if (is_new) found->second = function_of(event.call);
    return found->second;
  }

  // On which communicators a rank makes windows and opens files.
  struct Openings {
    std::map<int, int> windows, files;  // -1: on several
  };

  void find_openings(int rank) {
    const auto& sequence = record_.sequences[size_t(rank)];
    if (!sequence) return;
    const auto add = [](std::map<int, int>& all, int id, int comm) {
      const auto [found, is_new] = all.try_emplace(id, comm);
      if (!is_new && found->second != comm) found->second = -1;
    };
    Openings& mine = opened_on_[size_t(rank)];
    for (const Event& event : sequence->events) {
      const Function& call = function(event);
      if (call.one_sided == OneSided::create) add(mine.windows, event.window, event.comm);
      if (call.file_call == FileCall::open) add(mine.files, event.file, event.comm);
      const bool posts = event.call == "MPI_Win_post" || event.call == "MPI_Win_start";
      posted_ = posted_ || posts;
      if (is_access(call.one_sided)) largest_one_sided_ = std::max(largest_one_sided_, event.bytes);
      if (call.kind == Kind::file) largest_in_file_ = std::max(largest_in_file_, event.bytes);
    }
  }

  int comm_of(int rank, const Event& event) {
    const Function& call = function(event);
    if (call.kind != Kind::window && call.kind != Kind::file) return event.comm;
    const Openings& mine = opened_on_[size_t(rank)];
    const bool window = call.kind == Kind::window;
    const auto& all = window ? mine.windows : mine.files;
    const auto found = all.find(window ? event.window : event.file);
    return found == all.end() ? -1 : found->second;
  }

  // Why a call can't be made, whoever of the communicator looks at it; empty if it can.
  std::string obstacle(int rank, const Event& event) {
    const Function& call = function(event);
    if (call.kind == Kind::unknown) return "the replay does not know it";
    if (!is_on_comm(call.kind)) return {};
    const Communicator* comm = record_.communicator(comm_of(rank, event));
    if (comm == nullptr && call.kind == Kind::window)
      return "on which communicator its window was made is not in the record";
    if (comm == nullptr && call.kind == Kind::file)
      return "on which communicator its file was opened is not in the record";
    if (comm == nullptr) return "its communicator is not in the record";
    if (!comm->remote.empty()) return "it is on an intercommunicator";
    if (!is_member(*comm, rank)) return "ranks of another job are on its communicator, too";
    if (call.kind == Kind::window && posted_) return kPosted;
    const bool reduces = is_reduction(call.collective) || call.one_sided == OneSided::accumulate ||
                         call.one_sided == OneSided::get_accumulate;
    if (reduces && event.bytes > kMostReduced)
      return "reductions of 2 GiB and more are not replayed";
    if (call.kind != Kind::collective) return {};
    if (call.form == Form::persistent) return "persistent collectives are not replayed";
    if (is_among_neighbours(call.collective) && comm->dims.empty())
      return "who the neighbours are is not recorded";
    if (is_rooted(call.collective) && event.root < 0) return "its root is not recorded";
    return {};
  }

  // Accesses that no synchronisation would end.
  void skip_windows(int rank) {
    const auto& sequence = record_.sequences[size_t(rank)];
    if (!sequence || collectives_.empty() || posted_) return;
    const auto counts = occurrences(*sequence);
    for (size_t i = 0; i < counts.size(); ++i) {
      const Event& event = sequence->events[i];
      const Function& call = function(event);
      if (call.kind == Kind::window && !is_collective(call) &&
          collectives_.contains(comm_of(rank, event)))
        skip(event.call, kNotAll, counts[i]);
    }
  }

  // Counts what a rank has of each channel.
  void look_at(int rank) {
    const auto& sequence = record_.sequences[size_t(rank)];
    if (!sequence) return;
    const auto counts = occurrences(*sequence);
    const auto messages = deliveries(*sequence);
    const auto cancelled = cancelled_calls(*sequence);
    for (size_t i = 0; i < counts.size(); ++i) {
      const Event& event = sequence->events[i];
      const Function& call = function(event);
      calls_ += counts[i];
      if (const auto why = obstacle(rank, event); !why.empty()) {
        skip(event.call, why, counts[i]);
        // What is sent to this rank is then in no certain order.
        if (call.kind == Kind::receive && record_.communicator(event.comm) == nullptr)
          unclear_ranks_.insert(rank);
        continue;
      }
      if (call.kind == Kind::receive && cancelled[i]) inboxes_[{event.comm, rank}].unclear = true;
      if (call.kind == Kind::send || call.kind == Kind::exchange)
        count_send(rank, event, messages[i]);
      if (call.kind == Kind::receive)
        count_receive(rank, event.comm, event.peer, event.tag, messages[i]);
      if (call.kind == Kind::exchange)
        count_receive(rank, event.comm, event.from, event.from_tag, messages[i]);
    }
  }

  void count_send(int rank, const Event& event, uint64_t times) {
    if (event.peer < 0) return;
    Channel& channel = channels_[{event.comm, rank, event.peer, event.tag}];
    Inbox& inbox = inboxes_[{event.comm, event.peer}];
    channel.sent += times;
    inbox.sent += times;
    channel.most = std::max(channel.most, event.bytes);
    inbox.most = std::max(inbox.most, event.bytes);
  }

  void count_receive(int rank, int comm, int from, int tag, uint64_t times) {
    if (from == -1) return;
    Inbox& inbox = inboxes_[{comm, rank}];
    inbox.received += times;
    if (from == kAnyRank || tag == kAnyTag)
      inbox.any = true;
    else
      channels_[{comm, from, rank, tag}].received += times;
  }

  void skip_excess(const ChannelKey& key, const Channel& channel) {
    if (inboxes_[{std::get<0>(key), std::get<2>(key)}].together()) return;
    skip("sends", kNoReceive, channel.sent - channel.common());
    skip("receives", kNoSend, channel.received - channel.common());
  }

  // How many collective calls of a communicator all its members make.
  void agree(const Communicator& comm) {
    std::vector<Stream> streams;
    static const std::vector<record::Item> nothing;
    for (const int rank : comm.members) {
      const auto& sequence = record_.sequences[size_t(rank)];
      Stream stream{sequence ? &sequence->program : &nothing, {}};
      for (size_t i = 0; sequence && i < sequence->events.size(); ++i) {
        const Event& event = sequence->events[i];
        stream.token_of.push_back(comm_of(rank, event) == comm.id ? token(rank, event) : 0);
      }
      streams.push_back(std::move(stream));
    }
    const uint64_t common = common_prefix(streams);
    uint64_t excess = 0;
    for (const Stream& stream : streams) excess += count(stream) - common;
    if (excess == 0) return;
    skip("collective calls", kNotAll, excess);
    collectives_[comm.id] = common;
  }

  uint64_t token(int rank, const Event& event) {
    const Function& call = function(event);
    return is_collective(call) && obstacle(rank, event).empty() ? token_of(event, call) : 0;
  }

  // --- Of one rank -----------------------------------------------------------------------------

  void make_steps(const Sequence& sequence) {
    for (const Event& event : sequence.events) {
      Step step{function(event)};
      const bool possible = obstacle(rank_, event).empty();
      step.plays = possible;
      step.comm = comm_of(rank_, event);
      const Kind kind = step.function.kind;
      if (step.plays && (kind == Kind::send || kind == Kind::exchange))
        step.plays = may_send(event, step.limit);
      if (step.plays && kind == Kind::receive)
        step.plays = may_receive(event.comm, event.peer, event.tag, step, step.limit, event.bytes);
      if (kind == Kind::exchange && possible)
        step.plays_receive = may_receive(event.comm, event.from, event.from_tag, step,
                                         step.receive_limit, event.from_bytes);
      if (kind == Kind::probe) step.plays = step.plays && may_probe(event);
      if (possible && is_collective(step.function)) limit_collective(step);
      if (kind == Kind::window && step.plays) step.plays = may_access(event, step);
      mine_.steps.push_back(step);
    }
  }

  bool may_send(const Event& event, int& limit) {
    if (event.peer < 0) return true;
    if (!is_member(*record_.communicator(event.comm), event.peer)) return false;
    const Inbox& inbox = inboxes_[{event.comm, event.peer}];
    if (inbox.together()) return inbox.complete();
    limit = limit_of({event.comm, rank_, event.peer, event.tag}, &Channel::sent);
    return true;
  }

  bool may_receive(int comm, int from, int tag, Step& step, int& limit, int64_t bytes) {
    step.capacity = std::max<int64_t>(bytes, 0);
    if (from == -1) return true;
    const Inbox& inbox = inboxes_[{comm, rank_}];
    if (from >= 0 && !is_member(*record_.communicator(comm), from)) return false;
    if (inbox.together()) {
      step.capacity = std::max(step.capacity, inbox.most);
      return inbox.complete();
    }
    const ChannelKey key{comm, from, rank_, tag};
    step.capacity = std::max(step.capacity, channels_[key].most);
    limit = limit_of(key, &Channel::received);
    return true;
  }

  // The message is only sure to come where all do.
  bool may_probe(const Event& event) {
    const Inbox& inbox = inboxes_[{event.comm, rank_}];
    return event.peer != -1 && inbox.complete() && inbox.sent > 0;
  }

  int limit_of(const ChannelKey& key, uint64_t Channel::* mine) {
    const Channel& channel = channels_[key];
    if (channel.*mine == channel.common()) return -1;
    return limit_for({0, key, mine == &Channel::sent}, channel.common());
  }

  // A rank that is no member can't be.
  bool may_access(const Event& event, const Step& step) {
    if (collectives_.contains(step.comm)) return false;
    return event.peer < 0 || is_member(*record_.communicator(step.comm), event.peer);
  }

  // It counts if it is not made, too: what is made is a beginning of what was recorded.
  void limit_collective(Step& step) {
    const auto found = collectives_.find(step.comm);
    if (found != collectives_.end())
      step.limit = limit_for({1, {step.comm, 0, 0, 0}, false}, found->second);
  }

  using LimitKey = std::tuple<int, ChannelKey, bool>;
  int limit_for(const LimitKey& key, uint64_t times) {
    const auto [found, is_new] = limits_.try_emplace(key, int(mine_.limits.size()));
    if (is_new) mine_.limits.push_back(times);
    return found->second;
  }

  const Record& record_;
  std::vector<Openings> opened_on_;  // of each rank
  bool posted_ = false;              // somewhere MPI_Win_post or MPI_Win_start
  int64_t largest_one_sided_ = 0, largest_in_file_ = 0;
  uint64_t calls_ = 0;
  std::vector<Skipped> told_;
  std::map<std::string, Function> functions_;
  std::map<ChannelKey, Channel> channels_;
  std::map<InboxKey, Inbox> inboxes_;
  std::set<int> unclear_ranks_;          // which have receives on communicators that nobody knows
  std::map<int, uint64_t> collectives_;  // of those communicators whose members do not agree
  std::map<std::pair<std::string, std::string>, uint64_t> skipped_;
  // Of the rank that a plan is made for.
  int rank_ = 0;
  RankPlan mine_;
  std::map<LimitKey, int> limits_;
};

bool RankPlan::may(int limit) {
  if (limit < 0) return true;
  uint64_t& left = limits[size_t(limit)];
  return left > 0 && left-- > 0;
}

Plan::Plan(const Record& record) : planner_(std::make_unique<Planner>(record)) {}
Plan::~Plan() = default;
RankPlan Plan::of(int rank) { return planner_->of(rank); }
uint64_t Plan::calls() const { return planner_->calls(); }
const std::vector<Skipped>& Plan::skipped() const { return planner_->skipped(); }

std::vector<std::string> Plan::told() const {
  std::vector<std::string> lines;
  for (const Skipped& each : skipped())
    lines.push_back(fmt::format("left out: {} {}: {}", each.times, each.call, each.why));
  return lines;
}

}  // namespace haichi::replay
