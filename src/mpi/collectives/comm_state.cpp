#include "mpi/collectives/comm_state.h"

#include <algorithm>
#include <new>

#include "generated/real.h"
#include "mpi/communicators/private_comm.h"
#include "mpi/compat/handles.h"
#include "mpi/log/run_log.h"
#include "mpi/tuning/decision_file.h"
#include "mpi/tuning/selection_rules.h"
#include "report/rank_log.h"
#include "topology/seats.h"
#include "topology/shape.h"

namespace haichi::mpi {
namespace {

using collectives::Candidate;
using collectives::Decision;
using collectives::Selection;

// From 16 KiB on a call takes several times as long as an agreement.
constexpr int kLargeBlockBin = 14;
constexpr double kAgreementByLargeCall = 0.25;
// The library's own before the first trial, besides those before the state was made.
constexpr int kUsualCalls = 10;

std::string name_of(const Candidate& candidate) {
  return candidate.algorithm ? candidate.text() : "library";
}

/// What the model says of each candidate; 0 of the library's own.
std::vector<double> predicted(
    const std::vector<Candidate>& candidates,
    const std::vector<std::pair<Candidate, collectives::Verdict>>& verdicts) {
  std::vector<double> seconds(candidates.size());
  for (size_t i = 1; i < candidates.size(); ++i)
    for (const auto& [candidate, verdict] : verdicts)
      if (candidate == candidates[i]) seconds[i] = verdict.seconds;
  return seconds;
}

/// Gives a new state its model, where what messages cost is known. A machine that the communicator
/// does not fit into is a note, and the default numbers stay.
void predict(CommState& state) {
  if (!state.runtime.machine) return;
  const Status fine = state.predict_by(*state.runtime.machine);
  if (!fine && state.rank == 0)
    state.runtime.note(fmt::format("collectives do not know the machine: {}: {}",
                                   state.runtime.machine_use.file, fine.error().text));
}

}  // namespace

std::unique_ptr<CommState> make_state(Runtime& runtime, MPI_Comm comm) {
  int inter = 0;
  if (real().Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return nullptr;
  RankSetPtr ranks = ranks_of(comm);
  if (!ranks || never_taken(runtime, *ranks->placement)) return nullptr;
  const MPI_Comm own = take_private_comm(comm);
  if (own == handles().comm_null) {
    runtime.note("collectives of a communicator are the library's: haichi has too many of its own");
    return nullptr;
  }
  std::unique_ptr<CommState> state;
  std::optional<Neighbourhood> neighbourhood;
  try {
    int rank = 0;
    real().Comm_rank(own, &rank);
    neighbourhood = neighbourhood_of(comm);
    state = std::make_unique<CommState>(runtime, own, std::move(ranks), rank);
  } catch (const std::bad_alloc&) {
  }
  if (agree_on_neighbourhood(neighbourhood, state != nullptr, own)) {
    state->neighbourhood = std::move(neighbourhood);
    state->start_with(read_decisions(runtime, own, state->placement, state->rank));
    predict(*state);
    return state;
  }
  give_back_private_comm(own);
  return nullptr;
}

bool never_taken(const Runtime& runtime, const placement::Placement& placement) {
  const std::string& enable = runtime.settings.text("collectives.enable");
  return enable == "off" || placement.ranks() < 2 || (placement.nodes() < 2 && enable != "on");
}

CommState::CommState(Runtime& r, MPI_Comm o, RankSetPtr of, int me)
    : runtime(r), own(o), ranks(std::move(of)), placement(*ranks->placement), rank(me) {
  if (auto traffic = collectives::Traffic::make(placement, topology::Shape{}))
    model_.emplace(Model{{}, *std::move(traffic), collectives::kPruneFactorUnknown});
}

Tuned& CommState::tuned(const CollectiveKey& key, collectives::Kind kind, bool regular) {
  const auto known = tuned_.find(key);
  if (known != tuned_.end()) return known->second;
  const std::string& wanted = runtime.settings.text("collectives.algorithm");
  std::vector<Candidate> candidates(1);
  std::string_view why = "by trial";
  if (wanted == "auto") {
    for (const Candidate& each : collectives::default_candidates(
             placement, kind, regular, neighbourhood ? neighbourhood->most : placement.ranks()))
      candidates.push_back(each);
  } else if (const auto one = collectives::parse_candidate(wanted);
             one && one->refusal(kind, regular).empty()) {
    candidates = {*one};
    why = "collectives.algorithm says so";
  } else {
    why = wanted == "library" ? "collectives.algorithm says so"
                              : "what collectives.algorithm names cannot do it";
  }
  std::vector<std::pair<Candidate, collectives::Verdict>> verdicts;
  if (wanted == "auto" && model_ && regular && runtime.settings.text("collectives.prune") == "on")
    verdicts = prune(candidates, int64_t{1} << key.size_bin);
  const int count = int(candidates.size());
  collectives::SelectionRules rules = selection_rules(runtime.settings);
  rules.usual_calls = kUsualCalls;
  if (key.size_bin >= kLargeBlockBin) rules.agreement = kAgreementByLargeCall;
  Selection selection(count, rules);
  if (!verdicts.empty()) selection.expect(predicted(candidates, verdicts));
  if (const Decision* decision = earlier(key); decision && wanted == "auto")
    for (int i = 0; i < count; ++i)
      if (name_of(candidates[size_t(i)]) == decision->chosen) {
        selection = Selection::decided(count, i, decision->seconds, rules);
        why = "decided in an earlier run";
      }
  Tuned tuned{std::move(candidates), std::move(selection), 0, std::move(verdicts), why};
  return tuned_.emplace(key, std::move(tuned)).first->second;
}

std::vector<std::pair<Candidate, collectives::Verdict>> CommState::prune(
    std::vector<Candidate>& candidates, int64_t block) {
  const std::vector<Candidate> all(candidates.begin() + 1, candidates.end());
  const std::vector<collectives::Verdict> verdicts =
      collectives::prune(all, model_->traffic, model_->costs, block, model_->factor);
  candidates.resize(1);  // the library's stays: nothing can be predicted of it
  std::vector<std::pair<Candidate, collectives::Verdict>> found;
  for (size_t i = 0; i < all.size(); ++i) {
    if (verdicts[i].kept) candidates.push_back(all[i]);
    found.emplace_back(all[i], verdicts[i]);
  }
  return found;
}

Status CommState::predict_by(const machine::Machine& machine) {
  const auto shape = topology::parse_shape(machine.network);
  if (!shape) return tl::unexpected(shape.error());
  const auto taken = seats(machine, *shape);
  if (!taken) return tl::unexpected(taken.error());
  auto traffic = collectives::Traffic::make(placement, *shape, *taken);
  if (!traffic) return tl::unexpected(traffic.error());
  model_.emplace(
      Model{collectives::Costs(machine), *std::move(traffic), collectives::kPruneFactor});
  return {};
}

Result<std::vector<int>> CommState::seats(const machine::Machine& machine,
                                          const topology::Shape& shape) const {
  if (!machine.seats.empty()) {
    // Those of the nodes of MPI_COMM_WORLD, of which the communicator may have some.
    if (machine.seats.size() != size_t(runtime.world.nodes()))
      return fail(EINVAL, "{} seats for {} nodes", machine.seats.size(), runtime.world.nodes());
    std::vector<int> taken;
    for (int node = 0; node < placement.nodes(); ++node) {
      const int first = ranks->world_rank[size_t(placement.ranks_on(node)[0])];
      taken.push_back(machine.seats[size_t(runtime.world.node_of(first))]);
    }
    return taken;
  }
  std::vector<std::string> addresses;
  for (int node = 0; node < placement.nodes(); ++node) {
    addresses.push_back(placement.node_address(node));
    if (addresses.back().empty()) return std::vector<int>();
  }
  return topology::seats_of(shape, addresses);
}

const Decision* CommState::earlier(const CollectiveKey& key) const {
  return collectives::find_decision(earlier_, key.collective, key.size_bin);
}

void CommState::start_with(std::vector<Decision> decisions) { earlier_ = std::move(decisions); }

std::vector<Decision> CommState::decided() const {
  std::vector<Decision> decisions;
  for (const auto& [key, tuned] : tuned_) {
    const Selection& selection = tuned.selection;
    const bool by_trial = tuned.candidates.size() > 1 && selection.calls() > 0;
    if (!by_trial || selection.state() != Selection::State::locked) continue;
    decisions.push_back({std::string(key.collective), key.size_bin,
                         name_of(tuned.candidates[size_t(selection.chosen())]),
                         selection.seconds()});
  }
  return decisions;
}

report::CollectiveRecord CommState::record_of(const CollectiveKey& key, const Tuned& tuned) const {
  report::CollectiveRecord record;
  record.collective = key.collective;
  record.ranks = placement.ranks();
  record.nodes = placement.nodes();
  record.size_bin = key.size_bin;
  record.calls = tuned.selection.calls();
  record.retries = tuned.selection.retries();
  record.locked = tuned.selection.state() == Selection::State::locked;
  record.seconds = tuned.seconds;
  record.why = tuned.why;
  for (size_t i = 0; i < tuned.candidates.size(); ++i) {
    const Selection::Trials& trials = tuned.selection.trials()[i];
    const Candidate& candidate = tuned.candidates[i];
    record.candidates.push_back({name_of(candidate), trials.seconds, trials.dropped});
    const Selection::Steady& steady = tuned.selection.steady()[i];
    record.candidates.back().steady_calls = steady.calls;
    record.candidates.back().steady_seconds = steady.seconds;
  }
  for (const auto& [candidate, verdict] : tuned.verdicts) {
    auto& all = record.candidates;
    auto known = std::find_if(all.begin(), all.end(),
                              [&](const auto& each) { return each.name == candidate.text(); });
    if (known == all.end()) known = all.insert(all.end(), {candidate.text(), {}, true});
    known->predicted = verdict.seconds;
    known->reason = verdict.reason;
  }
  const int chosen = tuned.selection.chosen();
  if (chosen >= 0) record.chosen = record.candidates[size_t(chosen)].name;
  return record;
}

std::vector<report::CollectiveRecord> CommState::records() const {
  std::vector<report::CollectiveRecord> records;
  if (rank != 0) return records;
  for (const auto& [key, tuned] : tuned_) records.push_back(record_of(key, tuned));
  return records;
}

void CommState::log(const CollectiveKey& key, Tuned& tuned) {
  if (rank != 0 || tuned.selection.calls() < tuned.in_log.due) return;
  log_with(runtime, false, [&](report::RankLog& log_of_rank) {
    log_of_rank.add_collective(tuned.in_log, record_of(key, tuned));
  });
}

void CommState::log_last() {
  if (rank != 0) return;
  log_with(runtime, true, [&](report::RankLog& log_of_rank) {
    for (auto& [key, tuned] : tuned_)
      log_of_rank.add_collective(tuned.in_log, record_of(key, tuned));
  });
}

}  // namespace haichi::mpi
