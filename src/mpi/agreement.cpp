#include "mpi/agreement.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <span>

#include "base/os.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/small_messages.h"

namespace haichi::mpi {
namespace {

// Tags on a file's own communicator; data messages use 0.
constexpr int kSizeTag = 1;
constexpr int kAccessTag = 2;

plan::Extent hull_of(const Announcement& a) { return {a.hull_begin, a.hull_end}; }

bool meets(const plan::Extent& a, const plan::Extent& b) {
  return !a.empty() && !b.empty() && a.begin < b.end && b.begin < a.end;
}

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
    if (aggregators[a] != state.rank && meets(hull_of(announced), hull))
      letters.push_back(
          {aggregators[a], own.encode(own.position_of(hull.begin), own.position_of(hull.end))});
  }
  return letters;
}

/// Exchanges letters whose sizes the receivers do not know: `from` lists who writes to this rank.
/// Sizes go first, then the letters; the result is in the order of `from`.
Result<std::vector<std::vector<std::byte>>> exchange_letters(FileState& state,
                                                             plan::IssueOrder issue_order,
                                                             std::vector<Letter> letters,
                                                             const std::vector<int>& from) {
  const plan::PeerOrder order(state.placement, issue_order, state.rank);
  SmallMessages sizes(order), bodies(order);
  std::vector<std::vector<std::byte>*> received;
  for (const int peer : from) received.push_back(&sizes.receive_from(peer, sizeof(int64_t)));
  for (const Letter& letter : letters) {
    const int64_t bytes = int64_t(letter.data.size());
    const auto raw = std::as_bytes(std::span(&bytes, 1));
    sizes.send_to(letter.peer, {raw.begin(), raw.end()});
  }
  if (auto done =
          Executor(state.comm, kSizeTag, nullptr, nullptr, state.waiting()).run(sizes, sizes);
      !done)
    return tl::unexpected(done.error());
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t bytes;
    memcpy(&bytes, received[i]->data(), sizeof bytes);
    received[i] = &bodies.receive_from(from[i], size_t(bytes));
  }
  for (Letter& letter : letters) bodies.send_to(letter.peer, std::move(letter.data));
  if (auto done =
          Executor(state.comm, kAccessTag, nullptr, nullptr, state.waiting()).run(bodies, bodies);
      !done)
    return tl::unexpected(done.error());
  std::vector<std::vector<std::byte>> result;
  for (std::vector<std::byte>* body : received) result.push_back(std::move(*body));
  return result;
}

}  // namespace

uint64_t fingerprint(const mpiio::TwoPhaseOptions& o) {
  uint64_t hash = 14695981039346656037ull;  // FNV-1a
  for (const int64_t part :
       {int64_t(o.layout), int64_t(o.order), int64_t(o.aggregators), int64_t(o.per_node),
        int64_t(o.window), o.buffer, o.stripe_unit, int64_t(o.stripes), int64_t(o.may_go_direct),
        int64_t(o.may_share), int64_t(o.may_shrink), int64_t(o.keep_local), int64_t(o.file_thread),
        int64_t(o.node_streams)})
    hash = (hash ^ uint64_t(part)) * 1099511628211ull;
  return hash;
}

Announcement announce(FileState& state, const mpiio::Access& access, int64_t window) {
  Announcement a = {};
  a.window = window > 0 && state.ready_as_aggregator() ? window : 0;
  a.file_size = -1;
  const plan::Extent hull = access.hull();
  a.hull_begin = hull.begin;
  a.hull_end = hull.end;
  a.bytes = access.end() - access.begin();
  a.blocks = access.blocks();
  const mpiio::AggregatorFile file = state.aggregator_file();
  struct stat facts;
  if (file.fd >= 0 && file.os->fstat(file.fd, &facts) == 0) a.file_size = facts.st_size;
  if (!access.empty() && access.footprint() <= 4096) {
    const std::vector<std::byte> encoded = access.encode(access.begin(), access.end());
    if (encoded.size() <= sizeof a.encoded) {
      a.encoded_size = int64_t(encoded.size());
      memcpy(a.encoded, encoded.data(), encoded.size());
    }
  }
  return a;
}

Result<std::vector<Announcement>> agree(FileState& state, const Announcement& own) {
  std::vector<Announcement> all(size_t(state.placement.ranks()));
  static_assert(sizeof own <= NodeBoard::kMostBytes);
  if (!state.group->allgather(&own, sizeof own, all.data(), state.waiting()))
    return fail(EIO, "the ranks of {} cannot agree", state.path);
  return all;
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

Result<std::vector<mpiio::Access>> collect_accesses(FileState& state,
                                                    const mpiio::TwoPhasePlan& plan,
                                                    const std::vector<Announcement>& announcements,
                                                    const std::vector<mpiio::Access>& announced,
                                                    const mpiio::Access& own) {
  const std::vector<int>& aggregators = plan.aggregators.ranks;
  const auto me = std::find(aggregators.begin(), aggregators.end(), state.rank);
  std::vector<mpiio::Access> others;
  std::vector<int> unknown;
  bool any_large = false;
  for (const Announcement& a : announcements)
    any_large = any_large || (!hull_of(a).empty() && a.encoded_size == 0);
  if (me != aggregators.end()) {
    const plan::Extent domain = plan.domains.hull(int(me - aggregators.begin()));
    others.resize(announcements.size());
    for (int peer = 0; peer < int(others.size()); ++peer) {
      const Announcement& a = announcements[size_t(peer)];
      if (!meets(hull_of(a), domain)) continue;
      if (peer == state.rank) {
        others[size_t(peer)] = own;
      } else if (a.encoded_size == 0) {
        unknown.push_back(peer);
      } else {
        others[size_t(peer)] = announced[size_t(peer)];
      }
    }
  }
  if (!any_large) return others;
  auto letters = exchange_letters(
      state, plan.order, own_descriptions(state, plan, announcements[size_t(state.rank)], own),
      unknown);
  if (!letters) return tl::unexpected(letters.error());
  for (size_t i = 0; i < unknown.size(); ++i) {
    auto access = mpiio::Access::decode((*letters)[i]);
    if (!access) return tl::unexpected(access.error());
    others[size_t(unknown[i])] = std::move(*access);
  }
  return others;
}

}  // namespace haichi::mpi
