#include "mpi/topologies/reorder.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "generated/real.h"
#include "mpi/communicators/private_comm.h"
#include "mpi/communicators/rank_set.h"
#include "mpi/communicators/world_comm.h"
#include "mpi/compat/handles.h"
#include "mpi/job/runtime.h"
#include "plan/mapping.h"

namespace haichi::mpi {
namespace {

constexpr int kTag = 0x6f72;
// Of a distributed graph, which the first rank holds for all: 12 bytes each, and some more.
constexpr int64_t kMostEdges = 4'000'000;
// Steps of the search (plan/effort.h): about 10 ms, and for large communicators some more for
// each edge.
constexpr int64_t kLeastEffort = 1'000'000;
constexpr int64_t kEffortOfAnEdge = 20;

/// What has become of a rank in the new order.
struct Move {
  int rank = -1;  // its new one; -1: all stay as they are
  int seat = -1;  // old rank of who is now what it was
};

/// Whether all ranks' calls are sound, allow another order and gave the same.
bool all_want(MPI_Comm comm, bool reorder, const GivenTopology& given) {
  const int64_t alike = int64_t(given.alike >> 1);  // so that its negative is there
  const int64_t mine[] = {reorder && given.is == CallIs::sound, alike, -alike};
  int64_t least[std::size(mine)] = {};
  const Handles& h = handles();
  return real().Allreduce(mine, least, int(std::size(mine)), h.int64, h.op_min, comm) ==
             MPI_SUCCESS &&
         least[0] && least[1] == -least[2];
}

/// True if the user wants what is the same between nodes to be better within them.
bool asked_for() { return Runtime::get()->settings.text("placement.reorder") == "on"; }

/// Edges of all ranks together; -1 if the library fails. Collective over `own`.
int64_t edges_of_all(MPI_Comm own, const GivenTopology& given) {
  const int64_t mine = int64_t(given.edges.size());
  int64_t all = 0;
  const Handles& h = handles();
  return real().Allreduce(&mine, &all, 1, h.int64, h.op_sum, own) == MPI_SUCCESS ? all : -1;
}

/// All edges, of which there are so many, on the first rank. Collective over `own`.
std::vector<GivenEdge> gathered(MPI_Comm own, bool first, int size, const GivenTopology& given,
                                int64_t all) {
  constexpr int kSize = int(sizeof(GivenEdge));
  const int mine = int(given.edges.size()) * kSize;
  std::vector<int> bytes(first ? size_t(size) : 0), begin(bytes.size());
  std::vector<GivenEdge> edges(first ? size_t(all) : 0);
  const MPI_Datatype byte = handles().byte;
  if (real().Gather(&mine, sizeof mine, byte, bytes.data(), sizeof mine, byte, 0, own) !=
      MPI_SUCCESS)
    return {};
  std::exclusive_scan(bytes.begin(), bytes.end(), begin.begin(), 0);
  if (real().Gatherv(given.edges.data(), mine, byte, edges.data(), bytes.data(), begin.data(), byte,
                     0, own) != MPI_SUCCESS)
    return {};
  return edges;
}

plan::RankGraph graph_of(const std::vector<GivenEdge>& given, int ranks) {
  std::vector<plan::RankGraph::Edge> edges;
  edges.reserve(given.size());
  for (const GivenEdge& each : given) edges.push_back({each.from, each.to, each.weight});
  return plan::RankGraph(ranks, edges);
}

/// "MPI_Cart_create of 4 x 6 ranks on 3 nodes".
std::string name_of(const char* function, const GivenTopology& given, int nodes) {
  std::string extents;
  if (given.grid)
    for (const int each : given.grid->extents)
      extents += fmt::format("{}{}", extents.empty() ? "" : " x ", each);
  return fmt::format("{} of {} ranks on {} node{}", function,
                     given.grid ? extents : std::to_string(given.ranks), nodes,
                     nodes == 1 ? "" : "s");
}

/// What the report says of a mapping.
std::string told(const char* function, const GivenTopology& given, int nodes,
                 const plan::Mapping& mapping, bool taken) {
  const plan::MappingCost &before = mapping.given, &after = mapping.cost;
  std::string text = name_of(function, given, nodes);
  text += taken ? ": reordered, " : ": the given order stays, ";
  if (given.grid)
    text +=
        fmt::format("{} messages go between nodes when neighbours exchange", after.between_nodes);
  else
    text += fmt::format("edges between nodes weigh {}", after.between_nodes);
  if (!taken) return text;
  text += fmt::format(" in place of {}; of the busiest node {} in place of {}",
                      before.between_nodes, after.busiest_node, before.busiest_node);
  if (before.between_numa > 0)
    text += fmt::format("; between NUMA nodes {} in place of {}", after.between_numa,
                        before.between_numa);
  return text;
}

/// On the first rank: the moves of all ranks, or nothing if they stay.
std::vector<Move> moves_for(const placement::Placement& placement, const char* function,
                            const GivenTopology& given, const std::vector<GivenEdge>& edges) {
  const plan::RankGraph graph =
      given.grid ? plan::graph_of(*given.grid) : graph_of(edges, given.ranks);
  // Those beyond the topology stay outside, as without haichi.
  std::vector<int> inside(size_t(given.ranks));
  std::iota(inside.begin(), inside.end(), 0);
  const placement::Placement seats = placement.subset(inside);
  const plan::Mapping mapping =
      plan::map_ranks(graph, seats, given.grid, kLeastEffort + kEffortOfAnEdge * graph.ends());
  const bool taken = mapping.cost.between_nodes < mapping.given.between_nodes ||
                     (asked_for() && mapping.cost < mapping.given);
  Runtime::get()->note(told(function, given, seats.nodes(), mapping, taken));
  if (!taken) return {};
  std::vector<Move> moves(size_t(placement.ranks()));
  for (int rank = 0; rank < placement.ranks(); ++rank) {
    const int seat = rank < given.ranks ? mapping.seat_of[size_t(rank)] : rank;
    moves[size_t(seat)].rank = rank;
    moves[size_t(rank)].seat = seat;
  }
  return moves;
}

/// This rank's move. Collective over `own`. Where the first rank has no memory, all stay.
Move move_of(MPI_Comm own, const placement::Placement& placement, const char* function,
             const GivenTopology& given) {
  int rank = 0;
  real().Comm_rank(own, &rank);
  const size_t size = size_t(placement.ranks());
  std::vector<GivenEdge> edges;
  if (!given.grid) {
    const int64_t all = edges_of_all(own, given);
    if (all > kMostEdges && rank == 0)
      Runtime::get()->note(
          fmt::format("{}: the order stays, for there are {} edges, and haichi looks at {} at most",
                      function, all, kMostEdges));
    if (all < 0 || all > kMostEdges) return {};
    edges = gathered(own, rank == 0, int(size), given, all);
  }
  std::vector<Move> moves;
  if (rank == 0) {
    try {
      moves = moves_for(placement, function, given, edges);
    } catch (const std::bad_alloc&) {
    }
    moves.resize(size);
  }
  Move mine;
  const MPI_Datatype byte = handles().byte;
  const int bytes = int(sizeof mine);
  const bool scattered =
      real().Scatter(moves.data(), bytes, byte, &mine, bytes, byte, 0, own) == MPI_SUCCESS;
  return scattered ? mine : Move();
}

}  // namespace

OrderedComm::OrderedComm(MPI_Comm comm, MPI_Comm own, int rank, int seat)
    : comm_(comm), own_(own), rank_(rank), seat_(seat) {}

OrderedComm::~OrderedComm() {
  real().Comm_free(&comm_);
  give_back_private_comm(own_);
}

std::vector<int> OrderedComm::passed_on(const std::vector<int>& given) const {
  const MPI_Datatype byte = handles().byte;
  const auto exchange = [&](const void* sent, int sent_size, void* received, int received_size) {
    MPI_Request requests[2];
    real().Irecv(received, received_size, byte, rank_, kTag, own_, &requests[0]);
    real().Isend(sent, sent_size, byte, seat_, kTag, own_, &requests[1]);
    for (MPI_Request& each : requests) real().Wait(&each, MPI_STATUS_IGNORE);
  };
  const int size = int(given.size() * sizeof given[0]);
  int coming = 0;
  exchange(&size, sizeof size, &coming, sizeof coming);
  std::vector<int> got(size_t(coming) / sizeof(int));
  exchange(given.data(), size, got.data(), coming);
  return got;
}

bool may_be_ordered(MPI_Comm comm, int& size, int& rank) {
  const Runtime* const runtime = Runtime::get();
  int inter = 0;
  // Where ranks may fail, haichi has no communicator of its own and asks them nothing.
  return runtime != nullptr && comm != handles().comm_null &&
         asking_comm() != handles().comm_null &&
         runtime->settings.text("placement.reorder") != "off" &&
         real().Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
         real().Comm_size(comm, &size) == MPI_SUCCESS && size > 2 &&
         real().Comm_rank(comm, &rank) == MPI_SUCCESS;
}

std::unique_ptr<OrderedComm> order_for(MPI_Comm comm, const char* function, bool reorder,
                                       const GivenTopology& given) {
  const Handles& h = handles();
  const RankSetPtr ranks = ranks_of(comm);
  if (!ranks || (ranks->placement->nodes() < 2 && !asked_for())) return nullptr;
  if (!all_want(comm, reorder, given)) return nullptr;
  const MPI_Comm own = take_private_comm(comm);
  if (own == h.comm_null) return nullptr;
  const Move mine = move_of(own, *ranks->placement, function, given);
  MPI_Comm ordered = h.comm_null;
  if (mine.rank >= 0 && real().Comm_split(own, 0, mine.rank, &ordered) == MPI_SUCCESS) {
    real().Comm_set_errhandler(ordered, h.errors_return);
    return std::make_unique<OrderedComm>(ordered, own, mine.rank, mine.seat);
  }
  give_back_private_comm(own);
  return nullptr;
}

void inherit_errhandler(MPI_Comm made, MPI_Comm parent) {
  const Handles& h = handles();
  MPI_Errhandler of_made, of_parent;
  if (made == h.comm_null || real().Comm_get_errhandler(made, &of_made) != MPI_SUCCESS) return;
  const bool inherited = of_made == h.errors_return;
  real().Errhandler_free(&of_made);
  if (!inherited || real().Comm_get_errhandler(parent, &of_parent) != MPI_SUCCESS) return;
  real().Comm_set_errhandler(made, of_parent);
  real().Errhandler_free(&of_parent);
}

}  // namespace haichi::mpi
