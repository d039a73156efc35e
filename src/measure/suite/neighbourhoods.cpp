// Collectives among neighbours: each rank with the one before and the one behind it in a ring.
#include "measure/case/case.h"
#include "measure/suite/groups.h"
#include "measure/suite/rows.h"

namespace haichi::measure {
namespace {

constexpr int kNeighbours = 2;

struct Arguments {
  char *out, *in;
  int count;
  int counts[kNeighbours], places[kNeighbours];
  MPI_Aint offsets[kNeighbours];
  MPI_Datatype types[kNeighbours];
  MPI_Comm ring = MPI_COMM_NULL;
};

using A = const Arguments&;
using R = MPI_Request*;

struct Row {
  const char* name;
  const char* function;  // without "MPI_"
  int (*blocking)(A);
  int (*nonblocking)(A, R);
  int (*persistent)(A, R);
};

const Row kRows[] = {
    {"neighbor-allgather", "Neighbor_allgather",
     [](A a) {
       return MPI_Neighbor_allgather(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.ring);
     },
     [](A a, R r) {
       return MPI_Ineighbor_allgather(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.ring, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Neighbor_allgather_init(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.ring,
                                          MPI_INFO_NULL, r);
     })},
    {"neighbor-allgatherv", "Neighbor_allgatherv",
     [](A a) {
       return MPI_Neighbor_allgatherv(a.out, a.count, MPI_BYTE, a.in, a.counts, a.places, MPI_BYTE,
                                      a.ring);
     },
     [](A a, R r) {
       return MPI_Ineighbor_allgatherv(a.out, a.count, MPI_BYTE, a.in, a.counts, a.places, MPI_BYTE,
                                       a.ring, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Neighbor_allgatherv_init(a.out, a.count, MPI_BYTE, a.in, a.counts, a.places,
                                           MPI_BYTE, a.ring, MPI_INFO_NULL, r);
     })},
    {"neighbor-alltoall", "Neighbor_alltoall",
     [](A a) {
       return MPI_Neighbor_alltoall(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.ring);
     },
     [](A a, R r) {
       return MPI_Ineighbor_alltoall(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.ring, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Neighbor_alltoall_init(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.ring,
                                         MPI_INFO_NULL, r);
     })},
    {"neighbor-alltoallv", "Neighbor_alltoallv",
     [](A a) {
       return MPI_Neighbor_alltoallv(a.out, a.counts, a.places, MPI_BYTE, a.in, a.counts, a.places,
                                     MPI_BYTE, a.ring);
     },
     [](A a, R r) {
       return MPI_Ineighbor_alltoallv(a.out, a.counts, a.places, MPI_BYTE, a.in, a.counts, a.places,
                                      MPI_BYTE, a.ring, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Neighbor_alltoallv_init(a.out, a.counts, a.places, MPI_BYTE, a.in, a.counts,
                                          a.places, MPI_BYTE, a.ring, MPI_INFO_NULL, r);
     })},
    {"neighbor-alltoallw", "Neighbor_alltoallw",
     [](A a) {
       return MPI_Neighbor_alltoallw(a.out, a.counts, a.offsets, a.types, a.in, a.counts, a.offsets,
                                     a.types, a.ring);
     },
     [](A a, R r) {
       return MPI_Ineighbor_alltoallw(a.out, a.counts, a.offsets, a.types, a.in, a.counts,
                                      a.offsets, a.types, a.ring, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Neighbor_alltoallw_init(a.out, a.counts, a.offsets, a.types, a.in, a.counts,
                                          a.offsets, a.types, a.ring, MPI_INFO_NULL, r);
     })},
};

Arguments arguments_of(Case& c) {
  Arguments a;
  a.out = c.memory(kNeighbours * c.bytes);
  a.in = c.memory(kNeighbours * c.bytes);
  a.count = c.count();
  for (int i = 0; i < kNeighbours; ++i) {
    a.counts[i] = a.count;
    a.places[i] = i * a.count;
    a.offsets[i] = MPI_Aint(i) * a.count;
    a.types[i] = MPI_BYTE;
  }
  a.ring = c.ring();
  return a;
}

Measurement entry(std::string name, std::string function, std::string section, std::string timed,
                  std::function<Body(Case&)> make) {
  return {.name = std::move(name),
          .group = "neighbourhood",
          .functions = {"MPI_" + function},
          .section = std::move(section),
          .timed = std::move(timed),
          .sample = "the calls on all ranks, begun behind a barrier; bytes for each neighbour",
          .buffers = "a block for each of two neighbours, the same every time: hot",
          .make = std::move(make),
          .sizes = kBlocks};
}

void add(const Row& row, std::vector<Measurement>& all) {
  const std::string blocking = row.function;
  const std::string nonblocking = nonblocking_name(row.function);
  all.push_back(entry(row.name, blocking, "8.6", blocking, [call = row.blocking](Case& c) {
    const Arguments a = arguments_of(c);
    return Body{.call = [=] { must(call(a)); }};
  }));
  all.push_back(entry(std::string("i") + row.name, nonblocking, "8.7", nonblocking + ", Wait",
                      [call = row.nonblocking](Case& c) {
                        const Arguments a = arguments_of(c);
                        return Body{.call = [=] {
                          MPI_Request request = MPI_REQUEST_NULL;
                          must(call(a, &request));
                          must(MPI_Wait(&request, MPI_STATUS_IGNORE));
                        }};
                      }));
  if (row.persistent == nullptr) return;
  all.push_back(entry(std::string(row.name) + "-persistent", blocking + "_init", "8.8",
                      "Start, Wait",
                      [call = row.persistent, name = "MPI_" + blocking + "_init"](Case& c) {
                        // The request holds on to these.
                        Arguments* const a = c.values<Arguments>(1, arguments_of(c));
                        MPI_Request* const request = c.requests(1);
                        c.persistent_of_all(name.c_str(), request,
                                            [&](MPI_Request* made) { return call(*a, made); });
                        return Body{.call = [=] {
                          must(MPI_Start(request));
                          must(MPI_Wait(request, MPI_STATUS_IGNORE));
                        }};
                      }));
}

}  // namespace

std::vector<Measurement> neighbourhoods() {
  std::vector<Measurement> all;
  for (const Row& row : kRows) add(row, all);
  return all;
}

}  // namespace haichi::measure
