#include "mpi/communicators/rank_set.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <new>
#include <numeric>
#include <string_view>

#include "base/log.h"
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/communicators/world_comm.h"
#include "mpi/compat/handles.h"
#include "mpi/job/abort_job.h"
#include "mpi/job/discover.h"
#include "mpi/job/runtime.h"

namespace haichi::mpi {
namespace {

/// What hangs on a communicator and on its duplicates. Counted by hand: to copy it to a duplicate
/// must not fail on one rank alone.
struct Attached {
  RankSetPtr ranks;
  std::atomic<int> communicators = 1;
};

int copy(MPI_Comm, int, void*, void* from, void* to, int* flag) {
  static_cast<Attached*>(from)->communicators.fetch_add(1, std::memory_order_relaxed);
  *static_cast<void**>(to) = from;
  *flag = 1;
  return MPI_SUCCESS;
}

int forget(MPI_Comm, int, void* value, void*) {
  auto* const attached = static_cast<Attached*>(value);
  if (attached->communicators.fetch_sub(1, std::memory_order_acq_rel) == 1) delete attached;
  return MPI_SUCCESS;
}

/// MPI_KEYVAL_INVALID if there is none to be had.
int keyval() {
  static const int made = [] {
    int value = MPI_KEYVAL_INVALID;
    if (real().Comm_create_keyval(copy, forget, &value, nullptr) != MPI_SUCCESS)
      value = MPI_KEYVAL_INVALID;
    return value;
  }();
  return made;
}

/// All sets that somebody has.
struct Sets {
  struct Known {
    size_t hash;
    std::weak_ptr<const RankSet> ranks;
  };
  std::mutex mutex;
  std::vector<Known> known;
  RankSetPtr world;
};

Sets& sets() {
  static Sets* const instance = new Sets;  // never destroyed: communicators may be freed very late
  return *instance;
}

// A rank of this process has been in a call that may bring ranks of another world.
constinit std::atomic<bool> g_others_may_be_met = false;

void expect_others() { g_others_may_be_met.store(true, std::memory_order_relaxed); }

size_t hash_of(const std::vector<int>& ranks) {
  const std::string_view bytes(reinterpret_cast<const char*>(ranks.data()),
                               ranks.size() * sizeof ranks[0]);
  return std::hash<std::string_view>()(bytes);
}

RankSetPtr the_one_of(const Runtime& runtime, std::vector<int> world_rank) {
  Sets& all = sets();
  const size_t hash = hash_of(world_rank);
  const std::lock_guard guard(all.mutex);
  std::erase_if(all.known, [](const Sets::Known& each) { return each.ranks.expired(); });
  for (const Sets::Known& each : all.known)
    if (each.hash == hash)
      if (RankSetPtr ranks = each.ranks.lock(); ranks && ranks->world_rank == world_rank)
        return ranks;
  auto placement = std::make_shared<const placement::Placement>(runtime.world.subset(world_rank));
  auto made = std::make_shared<const RankSet>(RankSet{std::move(world_rank), std::move(placement)});
  all.known.push_back({hash, made});
  return made;
}

RankSetPtr kept_with(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  if (keyval() == MPI_KEYVAL_INVALID ||
      real().Comm_get_attr(comm, keyval(), &value, &found) != MPI_SUCCESS || !found)
    return nullptr;
  return static_cast<const Attached*>(value)->ranks;
}

bool keep_with(MPI_Comm comm, RankSetPtr ranks) {
  if (keyval() == MPI_KEYVAL_INVALID) return false;
  auto attached = std::make_unique<Attached>();
  attached->ranks = std::move(ranks);
  if (real().Comm_set_attr(comm, keyval(), attached.get()) != MPI_SUCCESS) return false;
  attached.release();
  return true;
}

/// Ranks of a job so large tell one another who they are: Open MPI's MPI_Group_translate_ranks
/// looks for each rank in all of the other group, which is 47 s for 100,000. Only where all are of
/// this world, of which a rank that was never in a call that could bring others may be sure. The
/// others look before. Without memory this rank would be missed by the others.
RankSetPtr told(const Runtime& runtime, MPI_Comm comm, int size) try {
  if (g_others_may_be_met.load(std::memory_order_relaxed) && !world_ranks(comm)) return nullptr;
  std::vector<int> world_rank(static_cast<size_t>(size));
  const MPI_Datatype byte = handles().byte;
  if (real().Allgather(&runtime.rank, int(sizeof runtime.rank), byte, world_rank.data(),
                       int(sizeof runtime.rank), byte, comm) != MPI_SUCCESS)
    return nullptr;
  RankSetPtr ranks = the_one_of(runtime, std::move(world_rank));
  // Who has it does not ask again, so all must have it.
  if (!keep_with(comm, ranks)) throw std::bad_alloc();
  return ranks;
} catch (const std::bad_alloc&) {
  log(LogLevel::error, "out of memory for the ranks of a communicator; the job ends");
  abort_job(kOutOfMemoryExit);
  return nullptr;
}

}  // namespace

void start_rank_sets(const Runtime& runtime) {
  std::vector<int> same(size_t(runtime.world.ranks()));
  std::iota(same.begin(), same.end(), 0);
  auto world = std::make_shared<const RankSet>(RankSet{std::move(same), runtime.shared_world});
  MPI_Comm parent = handles().comm_null;
  if (real().Comm_get_parent(&parent) == MPI_SUCCESS && parent != handles().comm_null)
    expect_others();
  {
    Sets& all = sets();
    const std::lock_guard guard(all.mutex);
    all.known.push_back({hash_of(world->world_rank), world});
    all.world = world;
  }
  (void)keep_with(handles().comm_world, std::move(world));
}

RankSetPtr ranks_of_world() {
  Sets& all = sets();
  const std::lock_guard guard(all.mutex);
  return all.world;
}

RankSetPtr ranks_of(MPI_Comm comm) {
  const Runtime* const runtime = Runtime::get();
  if (runtime == nullptr || comm == handles().comm_null) return nullptr;
  if (comm == handles().comm_world) return ranks_of_world();
  if (RankSetPtr known = kept_with(comm)) return known;
  int inter = 0, size = 0;
  if (real().Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ||
      real().Comm_size(comm, &size) != MPI_SUCCESS)
    return nullptr;
  if (runtime->works_by_nodes(size)) {
    // Without communicators of its own haichi asks ranks that may have failed for nothing.
    return asking_comm() != handles().comm_null ? told(*runtime, comm, size) : nullptr;
  }
  auto world_rank = world_ranks(comm);
  if (!world_rank) return nullptr;
  RankSetPtr ranks = the_one_of(*runtime, *std::move(world_rank));
  (void)keep_with(comm, ranks);
  return ranks;
}

// Before the MPI library's calls that can make communicators with ranks of another world. All of
// such a communicator have been in one of them.
void expect_port(const char*) { expect_others(); }
void expect_socket(int) { expect_others(); }
void expect_bridge(MPI_Comm) { expect_others(); }
void expect_members(MPI_Group) { expect_others(); }
void expect_spawned() { expect_others(); }

}  // namespace haichi::mpi
