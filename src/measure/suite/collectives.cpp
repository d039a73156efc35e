// Collectives of all ranks: each as one row with its blocking, nonblocking and persistent call, of
// which the entries are made: the blocking call, the nonblocking one with its wait, what issuing it
// takes, and in MPI 4 starting a persistent one and making it.
#include <algorithm>

#include "measure/case/case.h"
#include "measure/suite/groups.h"
#include "measure/suite/rows.h"

namespace haichi::measure {
namespace {

// What the calls of all collectives are made with. A block is what one rank sends another.
struct Arguments {
  char *out, *in;
  int count;             // bytes of a block
  int floats;            // of a reduction, at least one
  int *counts, *places;  // of all blocks, in bytes
  int* equal_floats;     // of a reduce_scatter: `floats` for each rank
  MPI_Datatype* types;   // MPI_BYTE for each rank
  int rank;
  MPI_Comm comm = MPI_COMM_NULL;
};

Arguments arguments_of(Case& c) {
  Arguments a;
  a.out = c.memory(c.ranks * std::max<int64_t>(c.bytes, 8));
  a.in = c.memory(c.ranks * std::max<int64_t>(c.bytes, 8));
  a.count = c.count();
  a.floats = std::max(c.count() / int(sizeof(float)), 1);
  a.counts = c.values<int>(c.ranks, a.count);
  a.places = c.values<int>(c.ranks);
  a.equal_floats = c.values<int>(c.ranks, a.floats);
  a.types = c.values<MPI_Datatype>(c.ranks, MPI_BYTE);
  for (int i = 0; i < c.ranks; ++i) a.places[i] = i * a.count;
  a.rank = c.rank;
  a.comm = c.comm;
  return a;
}

using A = const Arguments&;
using R = MPI_Request*;

// Null where the standard or this MPI has no such call.
struct Row {
  const char* name;
  const char* function;  // without "MPI_"
  const char* section;
  bool sized;
  int (*blocking)(A);
  int (*nonblocking)(A, R);
  int (*persistent)(A, R);
};

const Row kBasic[] = {
    {"barrier", "Barrier", "6.3", false,  //
     [](A a) { return MPI_Barrier(a.comm); }, [](A a, R r) { return MPI_Ibarrier(a.comm, r); },
     IN_MPI_4([](A a, R r) { return MPI_Barrier_init(a.comm, MPI_INFO_NULL, r); })},
    {"bcast", "Bcast", "6.4", true,
     [](A a) { return MPI_Bcast(a.out, a.count, MPI_BYTE, 0, a.comm); },
     [](A a, R r) { return MPI_Ibcast(a.out, a.count, MPI_BYTE, 0, a.comm, r); },
     IN_MPI_4([](A a, R r) {
       return MPI_Bcast_init(a.out, a.count, MPI_BYTE, 0, a.comm, MPI_INFO_NULL, r);
     })},
    {"gather", "Gather", "6.5", true,
     [](A a) { return MPI_Gather(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, 0, a.comm); },
     [](A a, R r) {
       return MPI_Igather(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, 0, a.comm, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Gather_init(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, 0, a.comm,
                              MPI_INFO_NULL, r);
     })},
    {"gatherv", "Gatherv", "6.5", true,
     [](A a) {
       return MPI_Gatherv(a.out, a.count, MPI_BYTE, a.in, a.counts, a.places, MPI_BYTE, 0, a.comm);
     },
     [](A a, R r) {
       return MPI_Igatherv(a.out, a.count, MPI_BYTE, a.in, a.counts, a.places, MPI_BYTE, 0, a.comm,
                           r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Gatherv_init(a.out, a.count, MPI_BYTE, a.in, a.counts, a.places, MPI_BYTE, 0,
                               a.comm, MPI_INFO_NULL, r);
     })},
    {"scatter", "Scatter", "6.6", true,
     [](A a) { return MPI_Scatter(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, 0, a.comm); },
     [](A a, R r) {
       return MPI_Iscatter(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, 0, a.comm, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Scatter_init(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, 0, a.comm,
                               MPI_INFO_NULL, r);
     })},
    {"scatterv", "Scatterv", "6.6", true,
     [](A a) {
       return MPI_Scatterv(a.out, a.counts, a.places, MPI_BYTE, a.in, a.count, MPI_BYTE, 0, a.comm);
     },
     [](A a, R r) {
       return MPI_Iscatterv(a.out, a.counts, a.places, MPI_BYTE, a.in, a.count, MPI_BYTE, 0, a.comm,
                            r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Scatterv_init(a.out, a.counts, a.places, MPI_BYTE, a.in, a.count, MPI_BYTE, 0,
                                a.comm, MPI_INFO_NULL, r);
     })},
};

const Row kAllToAll[] = {
    {"allgather", "Allgather", "6.7", true,
     [](A a) { return MPI_Allgather(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.comm); },
     [](A a, R r) {
       return MPI_Iallgather(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.comm, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Allgather_init(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.comm,
                                 MPI_INFO_NULL, r);
     })},
    {"allgatherv", "Allgatherv", "6.7", true,
     [](A a) {
       return MPI_Allgatherv(a.out, a.count, MPI_BYTE, a.in, a.counts, a.places, MPI_BYTE, a.comm);
     },
     [](A a, R r) {
       return MPI_Iallgatherv(a.out, a.count, MPI_BYTE, a.in, a.counts, a.places, MPI_BYTE, a.comm,
                              r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Allgatherv_init(a.out, a.count, MPI_BYTE, a.in, a.counts, a.places, MPI_BYTE,
                                  a.comm, MPI_INFO_NULL, r);
     })},
    {"alltoall", "Alltoall", "6.8", true,
     [](A a) { return MPI_Alltoall(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.comm); },
     [](A a, R r) {
       return MPI_Ialltoall(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.comm, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Alltoall_init(a.out, a.count, MPI_BYTE, a.in, a.count, MPI_BYTE, a.comm,
                                MPI_INFO_NULL, r);
     })},
    {"alltoallv", "Alltoallv", "6.8", true,
     [](A a) {
       return MPI_Alltoallv(a.out, a.counts, a.places, MPI_BYTE, a.in, a.counts, a.places, MPI_BYTE,
                            a.comm);
     },
     [](A a, R r) {
       return MPI_Ialltoallv(a.out, a.counts, a.places, MPI_BYTE, a.in, a.counts, a.places,
                             MPI_BYTE, a.comm, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Alltoallv_init(a.out, a.counts, a.places, MPI_BYTE, a.in, a.counts, a.places,
                                 MPI_BYTE, a.comm, MPI_INFO_NULL, r);
     })},
    {"alltoallw", "Alltoallw", "6.8", true,
     [](A a) {
       return MPI_Alltoallw(a.out, a.counts, a.places, a.types, a.in, a.counts, a.places, a.types,
                            a.comm);
     },
     [](A a, R r) {
       return MPI_Ialltoallw(a.out, a.counts, a.places, a.types, a.in, a.counts, a.places, a.types,
                             a.comm, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Alltoallw_init(a.out, a.counts, a.places, a.types, a.in, a.counts, a.places,
                                 a.types, a.comm, MPI_INFO_NULL, r);
     })},
};

// A sum of floats.
const Row kReductions[] = {
    {"reduce", "Reduce", "6.9.1", true,
     [](A a) { return MPI_Reduce(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, 0, a.comm); },
     [](A a, R r) { return MPI_Ireduce(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, 0, a.comm, r); },
     IN_MPI_4([](A a, R r) {
       return MPI_Reduce_init(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, 0, a.comm, MPI_INFO_NULL,
                              r);
     })},
    {"allreduce", "Allreduce", "6.9.6", true,
     [](A a) { return MPI_Allreduce(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm); },
     [](A a, R r) { return MPI_Iallreduce(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm, r); },
     IN_MPI_4([](A a, R r) {
       return MPI_Allreduce_init(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm, MPI_INFO_NULL,
                                 r);
     })},
    {"reduce-scatter", "Reduce_scatter", "6.10", true,
     [](A a) {
       return MPI_Reduce_scatter(a.out, a.in, a.equal_floats, MPI_FLOAT, MPI_SUM, a.comm);
     },
     [](A a, R r) {
       return MPI_Ireduce_scatter(a.out, a.in, a.equal_floats, MPI_FLOAT, MPI_SUM, a.comm, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Reduce_scatter_init(a.out, a.in, a.equal_floats, MPI_FLOAT, MPI_SUM, a.comm,
                                      MPI_INFO_NULL, r);
     })},
    {"reduce-scatter-block", "Reduce_scatter_block", "6.10", true,
     [](A a) {
       return MPI_Reduce_scatter_block(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm);
     },
     [](A a, R r) {
       return MPI_Ireduce_scatter_block(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm, r);
     },
     IN_MPI_4([](A a, R r) {
       return MPI_Reduce_scatter_block_init(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm,
                                            MPI_INFO_NULL, r);
     })},
    {"scan", "Scan", "6.11", true,
     [](A a) { return MPI_Scan(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm); },
     [](A a, R r) { return MPI_Iscan(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm, r); },
     IN_MPI_4([](A a, R r) {
       return MPI_Scan_init(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm, MPI_INFO_NULL, r);
     })},
    {"exscan", "Exscan", "6.11", true,
     [](A a) { return MPI_Exscan(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm); },
     [](A a, R r) { return MPI_Iexscan(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm, r); },
     IN_MPI_4([](A a, R r) {
       return MPI_Exscan_init(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm, MPI_INFO_NULL, r);
     })},
};

// In place: the input lies where the result goes.
const Row kInPlace[] = {
    {"allgather-in-place", "Allgather", "6.7", true,
     [](A a) { return MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, a.in, a.count, MPI_BYTE, a.comm); },
     nullptr, nullptr},
    {"alltoall-in-place", "Alltoall", "6.8", true,
     [](A a) { return MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, a.in, a.count, MPI_BYTE, a.comm); },
     nullptr, nullptr},
    {"allreduce-in-place", "Allreduce", "6.9.6", true,
     [](A a) { return MPI_Allreduce(MPI_IN_PLACE, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm); },
     nullptr, nullptr},
    {"scan-in-place", "Scan", "6.11", true,
     [](A a) { return MPI_Scan(MPI_IN_PLACE, a.in, a.floats, MPI_FLOAT, MPI_SUM, a.comm); },
     nullptr, nullptr},
};

Measurement entry(const Row& row, std::string name, std::string function, std::string timed) {
  return {.name = std::move(name),
          .group = "collective",
          .functions = {"MPI_" + function},
          .section = row.section,
          .timed = std::move(timed),
          .sample = "the calls on all ranks, begun behind a barrier",
          .buffers = "a block for each rank to send and one to receive, the same every time: hot",
          .sizes = row.sized ? kBlocks : kNone};
}

void add_nonblocking(const Row& row, std::vector<Measurement>& all) {
  const std::string function = nonblocking_name(row.function);
  Measurement whole = entry(row, std::string("i") + row.name, function, function + ", Wait");
  whole.section = "6.12";
  whole.make = [call = row.nonblocking](Case& c) {
    const Arguments a = arguments_of(c);
    return Body{.call = [=] {
      MPI_Request request = MPI_REQUEST_NULL;
      must(call(a, &request));
      must(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }};
  };
  Measurement issue = whole;
  issue.name += "-issue";
  issue.timed = function + " alone; Wait is not timed";
  issue.make = [call = row.nonblocking](Case& c) {
    const Arguments a = arguments_of(c);
    MPI_Request* const request = c.requests(1);
    return Body{.call = [=] { must(call(a, request)); },
                .after = [=] { must(MPI_Wait(request, MPI_STATUS_IGNORE)); }};
  };
  Measurement wait = issue;
  wait.name = std::string("i") + row.name + "-wait";
  wait.timed = "Wait for " + function + ", which is not timed";
  wait.make = [call = row.nonblocking](Case& c) {
    const Arguments a = arguments_of(c);
    MPI_Request* const request = c.requests(1);
    return Body{.call = [=] { must(MPI_Wait(request, MPI_STATUS_IGNORE)); },
                .before = [=] { must(call(a, request)); }};
  };
  for (Measurement* each : {&whole, &issue, &wait}) all.push_back(std::move(*each));
}

void add_persistent(const Row& row, std::vector<Measurement>& all) {
  const std::string function = std::string(row.function) + "_init";
  Measurement start = entry(row, std::string(row.name) + "-persistent", function, "Start, Wait");
  start.section = "6.13";
  start.make = [call = row.persistent, name = "MPI_" + function](Case& c) {
    const Arguments a = arguments_of(c);
    MPI_Request* const request = c.requests(1);
    c.persistent_of_all(name.c_str(), request, [&](MPI_Request* made) { return call(a, made); });
    return Body{.call = [=] {
      must(MPI_Start(request));
      must(MPI_Wait(request, MPI_STATUS_IGNORE));
    }};
  };
  Measurement make = start;
  make.name = std::string(row.name) + "-init";
  make.timed = function + " alone; Request_free is not timed";
  make.make = [call = row.persistent](Case& c) {
    const Arguments a = arguments_of(c);
    MPI_Request* const request = c.requests(1);
    return Body{.call = [=] { must(call(a, request)); },
                .after = [=] { must(MPI_Request_free(request)); }};
  };
  all.push_back(std::move(start));
  all.push_back(std::move(make));
}

void add(const Row& row, std::vector<Measurement>& all) {
  Measurement blocking = entry(row, row.name, row.function, row.function);
  blocking.make = [call = row.blocking](Case& c) {
    const Arguments a = arguments_of(c);
    return Body{.call = [=] { must(call(a)); }};
  };
  // Nothing but the call itself holds ranks back in a barrier.
  if (!row.sized) blocking.start = Start::back_to_back;
  all.push_back(std::move(blocking));
  if (row.nonblocking != nullptr) add_nonblocking(row, all);
  if (row.persistent != nullptr) add_persistent(row, all);
}

Measurement reduce_local() {
  return {.name = "reduce-local",
          .group = "collective",
          .functions = {"MPI_Reduce_local"},
          .section = "6.9.7",
          .timed = "Reduce_local, a sum of floats",
          .sample = "the call on each rank by itself",
          .buffers = "one to add and one to add to: hot",
          .make =
              [](Case& c) {
                const Arguments a = arguments_of(c);
                return Body{.call = [=] {
                  must(MPI_Reduce_local(a.out, a.in, a.floats, MPI_FLOAT, MPI_SUM));
                }};
              },
          .sizes = kBlocks};
}

}  // namespace

std::vector<Measurement> collectives() {
  std::vector<Measurement> all;
  for (const Row& row : kBasic) add(row, all);
  for (const Row& row : kAllToAll) add(row, all);
  for (const Row& row : kReductions) add(row, all);
  for (const Row& row : kInPlace) add(row, all);
  all.push_back(reduce_local());
  return all;
}

}  // namespace haichi::measure
