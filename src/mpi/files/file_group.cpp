#include "mpi/files/file_group.h"

#include <mutex>
#include <new>
#include <vector>

#include "base/log.h"
#include "generated/real.h"
#include "mpi/communicators/private_comm.h"
#include "mpi/communicators/world_comm.h"
#include "mpi/compat/handles.h"
#include "mpi/job/abort_job.h"
#include "mpi/log/summary_entries.h"
#include "mpi/tuning/decision_file.h"
#include "mpi/tuning/tuning_group.h"

namespace haichi::mpi {
namespace {

constinit std::atomic<int64_t> g_groups_made = 0;
// Of the group of all ranks; others begin with the number of their first rank.
constexpr int64_t kIdOfAll = int64_t{1} << 62;
// Ranks of one node that have spent so long on agreeing by messages do it in memory from then on:
// making it takes as long. But not before so many agreements, of which the first are slow.
constexpr int64_t kBoardCost = 150'000;
constexpr int64_t kAgreementsByMessages = 4;
// A program that makes ever new communicators shall not keep one of ours for each.
constexpr size_t kMostGroups = 32;

struct Groups {
  std::mutex mutex;
  std::vector<std::shared_ptr<FileGroup>> kept;  ///< in the order in which they were made
};

Groups& groups() {
  static Groups* const instance = new Groups;  // never destroyed: hooks may run very late
  return *instance;
}

/// All ranks of a group kept it, or none did.
std::shared_ptr<FileGroup> find_group(const RankSetPtr& ranks) {
  Groups& all = groups();
  const std::lock_guard guard(all.mutex);
  for (const auto& group : all.kept)
    if (group->ranks == ranks) return group;
  return nullptr;
}

/// This rank's, before the ranks agree on it; owns `own` if it is made.
std::shared_ptr<FileGroup> own_group(Runtime& runtime, MPI_Comm own, const RankSetPtr& ranks) try {
  if (!summary::can_reduce()) return nullptr;
  return std::make_shared<FileGroup>(runtime, own, ranks);
} catch (const std::bad_alloc&) {
  return nullptr;  // before the ranks meet: one that does not come makes the others wait
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  real().Comm_rank(comm, &rank);
  return rank;
}

void keep(const std::shared_ptr<FileGroup>& group) {
  Groups& all = groups();
  const std::lock_guard guard(all.mutex);
  all.kept.push_back(group);
}

bool room_for_group() {
  Groups& all = groups();
  const std::lock_guard guard(all.mutex);
  return all.kept.size() < kMostGroups;
}

}  // namespace

std::shared_ptr<FileGroup> group_of_all(Runtime& runtime, MPI_Comm own) {
  auto group = own_group(runtime, own, ranks_of_world());
  if (!group) {
    log(LogLevel::error, "out of memory when a file is opened; the job ends");
    abort_job(kOutOfMemoryExit);
    return nullptr;
  }
  group->id_ = kIdOfAll;
  group->ways.tuner.start_with(read_decisions(runtime, own, group->placement, group->rank));
  keep(group);
  return group;
}

FileGroup::FileGroup(Runtime& r, MPI_Comm own, RankSetPtr of)
    : runtime(r),
      comm(own),
      ranks(std::move(of)),
      placement(*ranks->placement),
      rank(rank_in(own)),
      ways(r) {}

FileGroup::~FileGroup() {
  try {
    if (rank == 0) ways.keep(placement);
  } catch (const std::bad_alloc&) {
    // What was tried is tried again by the next job.
  }
  give_back_private_comm(comm);
}

// Who waits for memory to change has to poll the MPI library meanwhile.
NodeBoard* FileGroup::board(Waiting waiting) {
  if (waiting != Waiting::polling) return nullptr;
  if (board_ || placement.nodes() > 1 || board_refused_ || ++agreements_ <= kAgreementsByMessages ||
      agreements_ * agreement_ns < kBoardCost || runtime.settings.text("io.share") != "on")
    return board_.get();
  board_ = NodeBoard::make(comm, placement, rank);
  board_refused_ = !board_;
  return board_.get();
}

bool FileGroup::allgather(const void* own, size_t bytes, void* all, Waiting waiting) {
  if (NodeBoard* const here = bytes <= NodeBoard::kMostBytes ? board(waiting) : nullptr) {
    here->allgather(own, bytes, all);
    return true;
  }
  const MPI_Datatype byte = handles().byte;
  return real().Allgather(own, int(bytes), byte, all, int(bytes), byte, comm) == MPI_SUCCESS;
}

bool FileGroup::broadcast(int64_t& value, Waiting waiting) {
  NodeBoard* const here = board(waiting);
  if (!here) return real().Bcast(&value, 1, handles().int64, 0, comm) == MPI_SUCCESS;
  std::vector<int64_t> all(static_cast<size_t>(placement.ranks()));
  here->allgather(&value, sizeof value, all.data());
  value = all[0];
  return true;
}

int64_t FileGroup::next_file() { return id_ + files_++; }

std::shared_ptr<FileGroup> file_group(Runtime& runtime, MPI_Comm comm) {
  int size = 0;
  if (comm == handles().comm_null || real().Comm_size(comm, &size) != MPI_SUCCESS || size < 2)
    return nullptr;
  const bool may_keep = !runtime.threads_may_write;
  const RankSetPtr ranks = ranks_of(comm);
  if (!ranks) return nullptr;
  if (auto known = may_keep ? find_group(ranks) : nullptr) return known;
  const MPI_Comm own = take_private_comm(comm);
  if (own == handles().comm_null) return nullptr;
  if (may_keep && own == asking_comm() && runtime.settings.text("io.tune") == "off")
    return group_of_all(runtime, own);
  auto group = own_group(runtime, own, ranks);
  // The first rank names the group; the smallest of all answers is the agreed one.
  enum { made, named, room, tuned, least_tuning, minus_greatest_tuning, answers };
  const auto tuning = group ? find_tuning(ranks) : nullptr;
  int64_t answer[answers] = {group != nullptr,
                             INT64_MAX,
                             may_keep && room_for_group(),
                             tuning || room_for_tuning(),
                             tuning ? tuning->id : 0,
                             tuning ? -tuning->id : 0};
  if (group && group->rank == 0)
    answer[named] = (int64_t{runtime.rank} << 40) | (g_groups_made.fetch_add(1) << 20);
  int64_t agreed[answers] = {};
  const int code =
      real().Allreduce(answer, agreed, answers, handles().int64, handles().op_min, own);
  if (code != MPI_SUCCESS || !agreed[made]) {
    if (!group) give_back_private_comm(own);
    return nullptr;
  }
  group->id_ = agreed[named];
  group->ways.tuner.start_with(read_decisions(runtime, own, group->placement, group->rank));
  const int64_t common = agreed[least_tuning];
  const bool all_have_it = common != 0 && common == -agreed[minus_greatest_tuning];
  if (agreed[tuned] && group->placement.nodes() > 1)
    group->tuning =
        all_have_it ? tuning : begin_tuning(runtime, ranks, group->rank, own, group->id_ + 1);
  if (agreed[room]) keep(group);
  return group;
}

void forget_file_groups() {
  Groups& all = groups();
  const std::lock_guard guard(all.mutex);
  all.kept.clear();
}

}  // namespace haichi::mpi
