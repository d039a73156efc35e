// Collectives on several communicators at once: both halves of the ranks do the same, each on its
// own, as programs do that divide their ranks into rows and columns. Ranks take turns, so that on
// every node there are ranks of both.
#include <algorithm>

#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

struct Half {
  MPI_Comm comm = MPI_COMM_NULL;
  char *out, *in;
  int count;
};

struct Row {
  const char* name;
  const char* function;  // without "MPI_"
  const char* section;
  bool sized;
  int (*call)(const Half&);
};

const Row kRows[] = {
    {"barrier", "Barrier", "6.3", false, [](const Half& a) { return MPI_Barrier(a.comm); }},
    {"allreduce", "Allreduce", "6.9.6", true,
     [](const Half& a) {
       return MPI_Allreduce(a.out, a.in, std::max(1, a.count / int(sizeof(float))), MPI_FLOAT,
                            MPI_SUM, a.comm);
     }},
    {"alltoall", "Alltoall", "6.8", true, [](const Half& a) {
       return MPI_Alltoall(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.comm);
     }}};

Body in_half(Case& c, const Row& row) {
  const int64_t bytes = c.ranks * std::max<int64_t>(c.bytes, 8);
  Half half{MPI_COMM_NULL, c.memory(bytes), c.memory(bytes), c.count()};
  half.comm = c.communicator("MPI_Comm_split", [&](MPI_Comm* made) {
    return MPI_Comm_split(c.comm, c.rank % 2, c.rank, made);
  });
  return {.call = [=, call = row.call] { must(call(half)); }};
}

}  // namespace

std::vector<Measurement> side_by_side() {
  std::vector<Measurement> all;
  for (const Row& row : kRows)
    all.push_back(
        {.name = std::string(row.name) + "-halves",
         .group = "collective",
         .functions = {std::string("MPI_") + row.function},
         .section = row.section,
         .timed = std::string(row.function) + " of the even ranks, and at once of the odd ranks",
         .sample = "the calls on all ranks, begun behind a barrier of all",
         .buffers = "a block for each rank, the same every time: hot",
         .make = [row](Case& c) { return in_half(c, row); },
         .sizes = row.sized ? kBlocks : kNone,
         .least_ranks = 4});
  return all;
}

}  // namespace haichi::measure
