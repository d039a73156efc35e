#include "mpi/access/agreement.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <span>

#include "base/os.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpiio/agreement/node_letters.h"
#include "plan/small_messages.h"

namespace haichi::mpi {
namespace {

// Tags on a file's own communicator; data messages use 0.
constexpr int kSizeTag = 1;
constexpr int kAccessTag = 2;
constexpr int kNodeTag = 4;

struct Letter {
  int peer;
  std::vector<std::byte> data;
};

/// This rank's access for each other aggregator that needs it, if it was too large to announce.
std::vector<Letter> own_descriptions(const FileState& state, const mpiio::TwoPhasePlan& plan,
                                     const Announcement& announced, const mpiio::Access& own) {
  std::vector<Letter> letters;
  if (own.empty() || announced.encoded_size > 0) return letters;
  const std::vector<int>& aggregators = plan.aggregators.ranks;
  for (size_t a = 0; a < aggregators.size(); ++a) {
    const plan::Extent hull = plan.domains.hull(int(a));
    if (aggregators[a] != state.rank && mpiio::meets(announced.hull(), hull))
      letters.push_back(
          {aggregators[a], own.encode(own.position_of(hull.begin), own.position_of(hull.end))});
  }
  return letters;
}

/// `both` is a schedule and its buffers: what the ranks tell each other.
template <class Messages>
Status talk(FileState& state, int tag, Messages& both) {
  Executor executor(state.comm, tag, nullptr, nullptr, state.waiting());
  return executor.run_or_abort(both, both, "agreeing", state.path);
}

/// Exchanges letters whose sizes the receivers do not know: `from` lists who writes to this rank.
/// Sizes go first, then the letters; the result is in the order of `from`.
Result<std::vector<std::vector<std::byte>>> exchange_letters(FileState& state,
                                                             plan::IssueOrder issue_order,
                                                             std::vector<Letter> letters,
                                                             const std::vector<int>& from) {
  const plan::PeerOrder order(state.placement, issue_order, state.rank);
  plan::SmallMessages sizes(order), bodies(order);
  std::vector<std::vector<std::byte>*> received;
  for (const int peer : from) received.push_back(&sizes.receive_from(peer, sizeof(int64_t)));
  for (const Letter& letter : letters) {
    const int64_t bytes = int64_t(letter.data.size());
    const auto raw = std::as_bytes(std::span(&bytes, 1));
    sizes.send_to(letter.peer, {raw.begin(), raw.end()});
  }
  if (auto done = talk(state, kSizeTag, sizes); !done) return tl::unexpected(done.error());
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t bytes;
    memcpy(&bytes, received[i]->data(), sizeof bytes);
    received[i] = &bodies.receive_from(from[i], size_t(bytes));
  }
  for (Letter& letter : letters) bodies.send_to(letter.peer, std::move(letter.data));
  if (auto done = talk(state, kAccessTag, bodies); !done) return tl::unexpected(done.error());
  std::vector<std::vector<std::byte>> result;
  for (std::vector<std::byte>* body : received) result.push_back(std::move(*body));
  return result;
}

}  // namespace

uint64_t fingerprint(const mpiio::TwoPhaseOptions& o) {
  uint64_t hash = 14695981039346656037ull;  // FNV-1a
  for (const int64_t part :
       {int64_t(o.layout), int64_t(o.order), int64_t(o.aggregators), int64_t(o.per_node),
        int64_t(o.max_outstanding), o.buffer, o.stripe_unit, int64_t(o.stripes),
        int64_t(o.may_go_direct), int64_t(o.may_share), int64_t(o.may_shrink),
        int64_t(o.keep_local), int64_t(o.file_thread), int64_t(o.node_streams)})
    hash = (hash ^ uint64_t(part)) * 1099511628211ull;
  return hash;
}

Announcement announce(FileState& state, mpiio::Direction direction, const mpiio::Access& access,
                      int64_t window) {
  Announcement a = mpiio::announcement_of(access);
  a.window = window > 0 && state.ready_as_aggregator() ? window : 0;
  const mpiio::AggregatorFile file = state.aggregator_file();
  // Where the file ends matters to who reads, and one rank of each node is enough to ask.
  struct stat facts;
  if (direction == mpiio::Direction::read && file.fd >= 0 && state.options.aggregates(state.rank) &&
      file.os->fstat(file.fd, &facts) == 0)
    a.file_size = facts.st_size;
  return a;
}

namespace {

/// What all ranks' announcements come to.
void take_total(Agreement& agreed, const mpiio::NodeWord& total) {
  agreed.window = total.window;
  agreed.file_size = total.file_size;
  agreed.tunings = {total.tuning_least, total.tuning_most};
}

Result<Agreement> agree_by_nodes(FileState& state, const Announcement& own) {
  Agreement agreed;
  agreed.by_nodes = std::make_unique<mpiio::NodeAgreement>(state.placement, state.rank, own,
                                                           state.options.aggregators().ranks);
  mpiio::NodeAgreement& talks = *agreed.by_nodes;
  if (auto done = talk(state, kNodeTag, talks); !done) return tl::unexpected(done.error());
  take_total(agreed, talks.total());
  return agreed;
}

}  // namespace

Result<Agreement> agree(FileState& state, const Announcement& own) {
  if (state.runtime.works_by_nodes(state.placement.ranks())) return agree_by_nodes(state, own);
  Agreement agreed;
  agreed.all.resize(size_t(state.placement.ranks()));
  static_assert(sizeof own <= NodeBoard::kMostBytes);
  if (!state.group->allgather(&own, sizeof own, agreed.all.data(), state.waiting()))
    return fail(EIO, "the ranks of {} cannot agree", state.path);
  mpiio::NodeWord total;
  for (const Announcement& each : agreed.all) total.add(mpiio::word_of(each));
  take_total(agreed, total);
  return agreed;
}

Result<std::vector<mpiio::Access>> announced_accesses(const std::vector<Announcement>& all,
                                                      int64_t end) {
  std::vector<mpiio::Access> accesses(all.size());
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].encoded_size == 0) continue;
    auto access = mpiio::Access::decode(std::span(all[r].encoded, size_t(all[r].encoded_size)));
    if (!access) return tl::unexpected(access.error());
    access->clip(end);
    accesses[r] = std::move(*access);
  }
  return accesses;
}

namespace {

/// What is to be had without asking anybody, and the ranks whose accesses are to be asked for, of
/// those that touch this rank's domain.
struct Known {
  std::vector<std::pair<int, mpiio::Access>> accesses;
  std::vector<int> unknown;
  bool any_large = false;  ///< on all ranks alike
};

Known from_all(const FileState& state, const Agreement& agreed,
               const std::vector<mpiio::Access>& all, const plan::Extent* domain) {
  Known known;
  for (const Announcement& a : agreed.all) known.any_large = known.any_large || a.is_large();
  for (int peer = 0; domain != nullptr && peer < int(agreed.all.size()); ++peer) {
    const Announcement& a = agreed.all[size_t(peer)];
    if (!mpiio::meets(a.hull(), *domain) || peer == state.rank) continue;
    if (a.encoded_size == 0)
      known.unknown.push_back(peer);
    else
      known.accesses.emplace_back(peer, all[size_t(peer)]);
  }
  return known;
}

/// The speakers of the nodes write to the aggregators whose domains their nodes' bytes may touch.
Result<Known> from_speakers(FileState& state, const mpiio::TwoPhasePlan& plan,
                            const mpiio::NodeAgreement& talks, const plan::Extent* domain) {
  const placement::Placement& placement = state.placement;
  std::vector<Letter> letters;
  const std::vector<int>& aggregators = plan.aggregators.ranks;
  const plan::Extent of_node =
      talks.speaks() ? talks.words()[size_t(placement.node_of(state.rank))].hull() : plan::Extent{};
  const mpiio::NodeLetters of_ranks(talks.of_node());
  for (size_t a = 0; a < aggregators.size() && !of_node.empty(); ++a) {
    const plan::Extent hull = plan.domains.hull(int(a));
    if (mpiio::meets(of_node, hull)) letters.push_back({aggregators[a], of_ranks.to(hull)});
  }
  std::vector<int> from, nodes;
  for (int node = 0; domain != nullptr && node < placement.nodes(); ++node) {
    if (!mpiio::meets(talks.words()[size_t(node)].hull(), *domain)) continue;
    nodes.push_back(node);
    from.push_back(mpiio::speaker_of(placement, node));
  }
  Known known;
  known.any_large = talks.total().large > 0;
  if (letters.empty() && from.empty()) return known;
  auto received = exchange_letters(state, plan.order, std::move(letters), from);
  if (!received) return tl::unexpected(received.error());
  mpiio::PatternPool pool;
  for (size_t i = 0; i < nodes.size(); ++i) {
    auto entries = mpiio::read_letter(placement, nodes[i], (*received)[i], pool);
    if (!entries) return tl::unexpected(entries.error());
    for (mpiio::LetterEntry& each : *entries) {
      if (each.rank == state.rank) continue;
      if (each.large)
        known.unknown.push_back(each.rank);
      else
        known.accesses.emplace_back(each.rank, std::move(each.access));
    }
  }
  return known;
}

}  // namespace

Result<mpiio::AccessList> collect_accesses(FileState& state, const mpiio::TwoPhasePlan& plan,
                                           const Agreement& agreed, const Announcement& announced,
                                           const std::vector<mpiio::Access>& all,
                                           const mpiio::Access& own) {
  const std::vector<int>& aggregators = plan.aggregators.ranks;
  const auto me = std::find(aggregators.begin(), aggregators.end(), state.rank);
  plan::Extent domain;
  if (me != aggregators.end()) domain = plan.domains.hull(int(me - aggregators.begin()));
  const plan::Extent* const mine = me != aggregators.end() ? &domain : nullptr;
  Result<Known> known = agreed.by_nodes ? from_speakers(state, plan, *agreed.by_nodes, mine)
                                        : from_all(state, agreed, all, mine);
  if (!known) return tl::unexpected(known.error());
  auto& accesses = known->accesses;
  if (mine && mpiio::meets(announced.hull(), domain)) accesses.emplace_back(state.rank, own);
  if (known->any_large) {
    auto letters = exchange_letters(state, plan.order,
                                    own_descriptions(state, plan, announced, own), known->unknown);
    if (!letters) return tl::unexpected(letters.error());
    for (size_t i = 0; i < known->unknown.size(); ++i) {
      auto access = mpiio::Access::decode((*letters)[i]);
      if (!access) return tl::unexpected(access.error());
      accesses.emplace_back(known->unknown[i], std::move(*access));
    }
  }
  std::sort(accesses.begin(), accesses.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  mpiio::AccessList list;
  list.reserve(accesses.size());
  for (auto& [rank, access] : accesses) list.add(rank, std::move(access));
  return list;
}

}  // namespace haichi::mpi
