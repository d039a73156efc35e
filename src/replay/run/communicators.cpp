#include "replay/run/communicators.h"

#include <algorithm>

#include "replay/run/must.h"

namespace haichi::replay {
namespace {

using record::Communicator;

// All members know all members, so each asks only those: no call of all ranks.
MPI_Comm make(const Communicator& recorded) {
  MPI_Group world, group;
  must(MPI_Comm_group(MPI_COMM_WORLD, &world));
  must(MPI_Group_incl(world, int(recorded.members.size()), recorded.members.data(), &group));
  MPI_Comm comm;
  must(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm));
  must(MPI_Group_free(&group));
  must(MPI_Group_free(&world));
  if (recorded.dims.empty()) return comm;
  const std::vector<int> periods(recorded.periods.begin(), recorded.periods.end());
  MPI_Comm grid;
  must(MPI_Cart_create(comm, int(recorded.dims.size()), recorded.dims.data(), periods.data(), 0,
                       &grid));
  must(MPI_Comm_free(&comm));
  return grid;
}

}  // namespace

Communicators::Communicators(const record::Record& record, int rank) {
  for (const Communicator& recorded : record.communicators) {
    const auto& members = recorded.members;
    const auto mine = std::find(members.begin(), members.end(), rank);
    if (mine == members.end() || !recorded.remote.empty()) continue;
    Comm made{make(recorded), int(mine - members.begin()), int(members.size()), {}, &recorded};
    made.rank_of.assign(size_t(record.ranks), -1);
    for (int i = 0; i < made.size; ++i) made.rank_of[size_t(members[size_t(i)])] = i;
    made_.emplace(recorded.id, std::move(made));
  }
}

Communicators::~Communicators() {
  for (auto& [id, comm] : made_) MPI_Comm_free(&comm.handle);
}

}  // namespace haichi::replay
