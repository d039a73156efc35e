#include "mpi/collectives/nonblocking_peers.h"

#include <optional>
#include <utility>
#include <vector>

#include "generated/real.h"
#include "mpi/collectives/comm_attachment.h"
#include "mpi/communicators/world_comm.h"
#include "mpi/compat/handles.h"
#include "mpi/compat/nonblocking_alltoall.h"

namespace haichi::mpi {
namespace {

/// With whom this rank exchanges blocks on a communicator that has a topology: all of its ranks
/// know the same. Collective over it, if it has one.
std::optional<Neighbourhood> agreed_neighbourhood(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  if (real().Topo_test(comm, &topology) != MPI_SUCCESS || topology == MPI_UNDEFINED)
    return std::nullopt;
  auto mine = neighbourhood_of(comm);
  return agree_on_neighbourhood(mine, true, comm) ? std::move(mine) : std::nullopt;
}

}  // namespace

void start_nonblocking() {
  start_world_comm();
  const Runtime* const runtime = Runtime::get();
  if (runtime == nullptr || asking_comm() == handles().comm_null ||
      runtime->settings.text("collectives.nonblocking") == "off" ||
      never_taken(*runtime, runtime->world))
    return;
  make_message_comm();
  prepare_nonblocking(handles().comm_world);
}

void prepare_nonblocking(MPI_Comm comm) {
  Runtime* const runtime = Runtime::get();
  int inter = 0, rank = 0;
  if (runtime == nullptr || message_comm() == handles().comm_null ||
      real().Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ||
      real().Comm_rank(comm, &rank) != MPI_SUCCESS)
    return;
  RankSetPtr ranks = ranks_of(comm);
  if (!ranks || never_taken(*runtime, *ranks->placement)) return;
  CommAttachment* const attachment = attachment_of(comm);
  MessageTag own;
  std::vector<int> tags = tell_tags(comm, attachment ? own.value() : MessageTag::kNone);
  if (tags.empty()) {
    runtime->note("nonblocking collectives of a communicator are the library's: no tag is left");
    return;
  }
  auto neighbourhood = agreed_neighbourhood(comm);
  attachment->peers = std::make_shared<CommPeers>(std::move(ranks), rank, std::move(own),
                                                  std::move(tags), std::move(neighbourhood));
}

std::shared_ptr<CommPeers> peers_of(MPI_Comm comm) {
  const Handles& h = handles();
  if (Runtime::get() == nullptr || message_comm() == h.comm_null || comm == h.comm_null)
    return nullptr;
  const CommAttachment* const attachment = find_attachment(comm);
  return attachment ? attachment->peers : nullptr;
}

}  // namespace haichi::mpi
