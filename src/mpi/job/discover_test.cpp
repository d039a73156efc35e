// Runs under mpiexec (tests/cli/test_where.py): what discover.h promises, inside a real job.
// Prints one line "ok" from rank 0, or a line per failure from any rank and exits with 1.
//
//   discover-test-<flavour>          communicators made from MPI_COMM_WORLD
//   discover-test-<flavour> spawn    with ranks of another MPI_COMM_WORLD, whom it spawns
#include <mpi.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "mpi/job/discover.h"

namespace haichi::mpi {
namespace {

using placement::Placement;

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: not so: %s\n", rank, what);
}

bool alike(const Result<Placement>& a, const Result<Placement>& b) {
  if (!a || !b || a->ranks() != b->ranks() || a->nodes() != b->nodes() || !(*a == *b)) return false;
  for (int node = 0; node < a->nodes(); ++node)
    if (a->node_name(node) != b->node_name(node)) return false;
  for (size_t rank = 0; rank < a->places().size(); ++rank)
    if (a->places()[rank].core != b->places()[rank].core) return false;
  return a->places().size() == b->places().size();
}

// Communicators with some of the ranks, in other orders: derived placement and asked-for one.
void check_parts(const Placement& world, int rank) {
  for (const int colours : {1, 2, 3}) {
    for (const int key : {rank, -rank, rank % 2}) {
      MPI_Comm part;
      MPI_Comm_split(MPI_COMM_WORLD, rank % colours, key, &part);
      expect(alike(placement_of(part, world), discover(part)),
             "a part's placement is the same by the world's and by asking");
      MPI_Comm_free(&part);
    }
  }
  expect(alike(placement_of(MPI_COMM_WORLD, world), world), "the world's placement is its own");
  const auto self = placement_of(MPI_COMM_SELF, world);
  expect(self && self->ranks() == 1 && self->node_name(0) == world.node_name(world.node_of(rank)),
         "the placement of MPI_COMM_SELF is this rank's node");
}

void check_no_communication(const Placement& world, int rank) {
  MPI_Comm all;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  // Would wait for ever for the other ranks, which do not call it, if it communicated.
  if (rank == 0) expect(alike(placement_of(all, world), world), "rank 0 alone can derive it");
  MPI_Barrier(all);
  MPI_Comm_free(&all);
}

void check_time(int rank) {
  std::vector<int64_t> times;
  for (int i = 0; i < 21; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const int64_t begin = now_ns();
    const auto placement = discover(MPI_COMM_WORLD);
    times.push_back(now_ns() - begin);
    expect(placement.has_value(), "it can be found out again");
  }
  std::sort(times.begin(), times.end());
  if (rank == 0) printf("discover: median %.0f us\n", double(times[10]) * 1e-3);
}

void check_world(int rank) {
  const auto world = discover(MPI_COMM_WORLD);
  expect(world.has_value(), "the world has a placement");
  if (!world) return;
  check_parts(*world, rank);
  check_no_communication(*world, rank);
  check_time(rank);
  const auto nowhere = discover(MPI_COMM_WORLD, rank == 1 ? "/nonexistent" : "");
  expect(!nowhere && nowhere.error().code == EINVAL &&
             nowhere.error().text.find("/nonexistent") != std::string::npos,
         "a file that only rank 1 names, and that is not there, is an error on every rank");
}

// With two further worlds: the program itself, started as "discover-test child".
void check_spawned(char* program, MPI_Comm parent) {
  const auto world = discover(MPI_COMM_WORLD);
  expect(world.has_value(), "the world has a placement");
  MPI_Comm between = parent;
  if (parent == MPI_COMM_NULL) {
    char child[] = "child";
    char* arguments[] = {child, nullptr};
    MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
  }
  const auto none = placement_of(between, *world);
  expect(!none && none.error().code == EINVAL, "an intercommunicator has no placement");
  MPI_Comm merged;
  MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &merged);
  const auto both = placement_of(merged, *world);
  expect(!both && both.error().code == EINVAL,
         "nobody tells whether ranks of another world have haichi");
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&between);
}

}  // namespace
}  // namespace haichi::mpi

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  if (argc > 1)
    haichi::mpi::check_spawned(argv[0], parent);
  else
    haichi::mpi::check_world(rank);
  fflush(stdout);
  MPI_Allreduce(&haichi::mpi::failures, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && failed == 0 && parent == MPI_COMM_NULL) printf("ok\n");
  MPI_Finalize();
  return failed == 0 ? 0 : 1;
}
