#include "mpi/communicators/private_comm.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "generated/real.h"
#include "mpi/communicators/rank_set.h"
#include "mpi/communicators/world_comm.h"
#include "mpi/compat/handles.h"
#include "mpi/job/runtime.h"

namespace haichi::mpi {
namespace {

struct PrivateComms {
  std::mutex mutex;
  std::atomic<bool> shared = false;  // as long as one thread calls MPI; known with the first
  int count = 0;                     // that are there
  unsigned created = 0;              // that this rank was the first rank of
  struct Shared {
    RankSetPtr ranks;
    MPI_Comm comm;
  };
  std::vector<Shared> of_groups;  // kept until MPI_Finalize
};

PrivateComms& all() {
  static PrivateComms* const instance = new PrivateComms;
  return *instance;
}

/// That of a communicator of the same ranks: all of them have it or none.
MPI_Comm find_shared(const RankSetPtr& ranks) {
  PrivateComms& comms = all();
  const std::lock_guard guard(comms.mutex);
  for (const PrivateComms::Shared& each : comms.of_groups)
    if (each.ranks == ranks) return each.comm;
  return handles().comm_null;
}

/// A tag for MPI_Comm_create_group that no other thread uses among the same ranks, if this is the
/// first rank of the new communicator. With the lock held.
int64_t new_tag(const std::vector<int>& world_ranks) {
  constexpr int64_t kTags = 32768;  // any library has as many
  PrivateComms& comms = all();
  if (world_ranks[0] != Runtime::get()->rank) return INT64_MAX;
  return (world_ranks[0] * int64_t{61} + comms.created++) % kTags;
}

/// A tag if all ranks of `comm` have room for one more, else -1. Collective.
int agree_on_room(MPI_Comm comm, const std::vector<int>& world_ranks) {
  PrivateComms& comms = all();
  int64_t mine[2] = {};
  {
    const std::lock_guard guard(comms.mutex);
    mine[0] = comms.count < kMostPrivateComms;
    mine[1] = new_tag(world_ranks);
    comms.count += int(mine[0]);
  }
  int64_t agreed[2] = {};
  const Handles& h = handles();
  const bool told = real().Allreduce(mine, agreed, 2, h.int64, h.op_min, comm) == MPI_SUCCESS;
  if (told && agreed[0]) return int(agreed[1]);
  const std::lock_guard guard(comms.mutex);
  comms.count -= int(mine[0]);
  return -1;
}

/// A communicator of these ranks of MPI_COMM_WORLD. Its group is taken out of that of the
/// duplicate: MPICH 4.0 crashes on the program's.
MPI_Comm created(const std::vector<int>& world_ranks, int tag) {
  const Handles& h = handles();
  const auto include = reinterpret_cast<int (*)(MPI_Group, int, const int*, MPI_Group*)>(
      real_symbol("PMPI_Group_incl"));
  MPI_Group world = h.group_null, group = h.group_null;
  MPI_Comm own = h.comm_null;
  if (include == nullptr || real().Comm_group(asking_comm(), &world) != MPI_SUCCESS)
    return h.comm_null;
  const bool made =
      include(world, int(world_ranks.size()), world_ranks.data(), &group) == MPI_SUCCESS &&
      real().Comm_create_group(asking_comm(), group, tag, &own) == MPI_SUCCESS;
  real().Group_free(&world);
  if (group != h.group_null) real().Group_free(&group);
  if (!made) return h.comm_null;
  real().Comm_set_errhandler(own, h.errors_return);
  return own;
}

}  // namespace

MPI_Comm take_private_comm(MPI_Comm comm) {
  const MPI_Comm none = handles().comm_null;
  PrivateComms& comms = all();
  int inter = 0, size = 0;
  if (comm == none || asking_comm() == none || Runtime::get() == nullptr ||
      real().Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ||
      real().Comm_size(comm, &size) != MPI_SUCCESS || size < 2)
    return none;
  const RankSetPtr ranks = ranks_of(comm);
  if (!ranks) return none;
  comms.shared = !Runtime::get()->threads_may_write;
  if (comms.shared && ranks == ranks_of_world()) return asking_comm();
  if (comms.shared)
    if (const MPI_Comm known = find_shared(ranks); known != none) return known;
  const int tag = agree_on_room(comm, ranks->world_rank);
  if (tag < 0) return none;
  const MPI_Comm own = created(ranks->world_rank, tag);
  const std::lock_guard guard(comms.mutex);
  if (own == none)
    --comms.count;
  else if (comms.shared)
    comms.of_groups.push_back({ranks, own});
  return own;
}

void give_back_private_comm(MPI_Comm own) {
  PrivateComms& comms = all();
  if (own == handles().comm_null || comms.shared) return;
  real().Comm_free(&own);
  const std::lock_guard guard(comms.mutex);
  --comms.count;
}

MPI_Comm make_self_comm() {
  if (asking_comm() == handles().comm_null) return handles().comm_null;
  int64_t tag = 0;
  {
    const std::lock_guard guard(all().mutex);
    tag = new_tag({Runtime::get()->rank});
  }
  return created({Runtime::get()->rank}, int(tag));
}

}  // namespace haichi::mpi
