// What an MPI library gets done while the program computes: nonblocking messages, collectives and
// file accesses, each with a computation between issuing it and waiting for it; and one-sided
// operations whose target computes.
//
// The computation is a share of what the operation takes alone, which making the measurement finds
// out. With `alone` the median of the same operation without computing (of ialltoall, say), what
// was hidden of the shorter of the two is
//   (alone + share x alone - sample) / min(alone, share x alone):
// 1 if the library gets on by itself, 0 if it does nothing until the program waits.
#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "measure/case/case.h"
#include "measure/suite/computation.h"
#include "measure/suite/groups.h"
#include "measure/suite/scratch_file.h"

namespace haichi::measure {
namespace {

constexpr int kTag = 5;
constexpr int kTrials = 9;
constexpr int kSlices = 10;  // of a computation that looks after the operation in between
constexpr double kNano = 1e-9;

// A nonblocking operation on one rank: what issues it, into so many requests.
struct Operation {
  std::function<void(MPI_Request*)> issue;
  int requests = 1;
};

struct Row {
  const char* name;
  std::vector<std::string> functions;
  const char* section;
  const char* alone;  // the measurement of the same without computing
  Sizes sizes;
  Operation (*make)(Case&);
};

constexpr Sizes kExchanged{4 << 10, 256 << 10}, kAccessed{64 << 10, 1 << 20};

template <auto call>
Operation file_access(Case& c) {
  const MPI_File file = scratch_file(c);
  const MPI_Offset offset = c.rank * c.bytes;
  char* const memory = c.memory(c.bytes);
  const int count = c.count();
  fill(c, file, offset, memory, count);
  return {.issue = [=](MPI_Request* r) { must(call(file, offset, memory, count, MPI_BYTE, r)); }};
}

Operation ring(Case& c) {
  char *const out = c.memory(c.bytes), *const in = c.memory(c.bytes);
  const int to = (c.rank + 1) % c.ranks, from = (c.rank + c.ranks - 1) % c.ranks;
  return {.issue =
              [=, &c](MPI_Request* r) {
                must(MPI_Irecv(in, c.count(), MPI_BYTE, from, kTag, c.comm, &r[0]));
                must(MPI_Isend(out, c.count(), MPI_BYTE, to, kTag, c.comm, &r[1]));
              },
          .requests = 2};
}

// A collective with a block of memory for each rank on both sides.
template <class Call>
Operation collective(Case& c, Call call) {
  char *const out = c.memory(c.ranks * c.bytes), *const in = c.memory(c.ranks * c.bytes);
  return {.issue = [=, &c](MPI_Request* r) { must(call(c, out, in, r)); }};
}

std::vector<Row> rows() {
  return {
      {"isend", {"MPI_Isend", "MPI_Irecv"}, "3.7", "shift-isend", kExchanged, ring},
      {"ibcast",
       {"MPI_Ibcast"},
       "6.12.2",
       "ibcast",
       kExchanged,
       [](Case& of) {
         return collective(of, [](const Case& c, char* out, char*, MPI_Request* r) {
           return MPI_Ibcast(out, c.count(), MPI_BYTE, 0, c.comm, r);
         });
       }},
      {"iallgather",
       {"MPI_Iallgather"},
       "6.12.5",
       "iallgather",
       kExchanged,
       [](Case& of) {
         return collective(of, [](const Case& c, char* out, char* in, MPI_Request* r) {
           return MPI_Iallgather(out, c.count(), MPI_BYTE, in, c.count(), MPI_BYTE, c.comm, r);
         });
       }},
      {"ialltoall",
       {"MPI_Ialltoall"},
       "6.12.6",
       "ialltoall",
       kExchanged,
       [](Case& of) {
         return collective(of, [](const Case& c, char* out, char* in, MPI_Request* r) {
           return MPI_Ialltoall(out, c.count(), MPI_BYTE, in, c.count(), MPI_BYTE, c.comm, r);
         });
       }},
      {"iallreduce",
       {"MPI_Iallreduce"},
       "6.12.8",
       "iallreduce",
       kExchanged,
       [](Case& of) {
         return collective(of, [](const Case& c, char* out, char* in, MPI_Request* r) {
           return MPI_Iallreduce(out, in, c.count() / int(sizeof(float)), MPI_FLOAT, MPI_SUM,
                                 c.comm, r);
         });
       }},
      {"file-iwrite-at",
       {"MPI_File_iwrite_at"},
       "14.4",
       "file-iwrite-at",
       kAccessed,
       file_access<MPI_File_iwrite_at>},
      {"file-iread-at",
       {"MPI_File_iread_at"},
       "14.4",
       "file-iread-at",
       kAccessed,
       file_access<MPI_File_iread_at>},
      {"file-iwrite-at-all",
       {"MPI_File_iwrite_at_all"},
       "14.4",
       "file-iwrite-at-all",
       kAccessed,
       file_access<MPI_File_iwrite_at_all>},
      {"file-iread-at-all",
       {"MPI_File_iread_at_all"},
       "14.4",
       "file-iread-at-all",
       kAccessed,
       file_access<MPI_File_iread_at_all>},
  };
}

// What the operation takes alone, on the slowest rank: the median of a few. All ranks' calls.
double alone_seconds(const Case& c, const Operation& operation, MPI_Request* requests) {
  std::vector<double> seconds;
  for (int i = 0; i < kTrials; ++i) {
    must(MPI_Barrier(c.comm));
    const int64_t begin = now_ns();
    operation.issue(requests);
    must(MPI_Waitall(operation.requests, requests, MPI_STATUSES_IGNORE));
    seconds.push_back(double(now_ns() - begin) * kNano);
  }
  std::nth_element(seconds.begin(), seconds.begin() + kTrials / 2, seconds.end());
  double slowest = 0;
  must(MPI_Allreduce(&seconds[kTrials / 2], &slowest, 1, MPI_DOUBLE, MPI_MAX, c.comm));
  return slowest;
}

// `slices`: Testall between so many parts of the computation; 1 looks at nothing until the end.
Body computing(Case& c, const Operation& operation, const char* function, double share,
               int slices) {
  MPI_Request* const requests = c.requests(operation.requests);
  double seconds = 0;
  c.together(function, [&] { seconds = share * alone_seconds(c, operation, requests); });
  const int64_t rounds = std::max<int64_t>(1, rounds_of(seconds) / slices);
  const int count = operation.requests;
  return {.call = [=, issue = operation.issue] {
    issue(requests);
    for (int i = 0; i < slices; ++i) {
      int done = 0;
      if (i > 0) must(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
      compute(rounds);
    }
    must(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
  }};
}

struct Length {
  const char* suffix;
  const char* words;
  double share;
  int slices;
};
const Length kLengths[] = {
    {"half", "half as long as it takes alone", 0.5, 1},
    {"full", "as long as it takes alone", 1, 1},
    {"double", "twice as long as it takes alone", 2, 1},
    {"testing", "as long as it takes alone, with nine Testall in between", 1, kSlices}};

Measurement entry(const Row& row, const Length& length) {
  const std::string alone = row.alone;
  return {.name = std::string(row.name) + "-computing-" + length.suffix,
          .group = "overlap",
          .functions = row.functions,
          .section = row.section,
          .timed = row.functions.front().substr(4) + ", a computation " + length.words + ", Wait",
          .sample = fmt::format("all of it on all ranks, begun behind a barrier; hidden is the "
                                "share ({:g} x {} - sample) / ({:g} x {})",
                                1 + length.share, alone, std::min(1.0, length.share), alone),
          .buffers = "those of " + alone + "; the computation uses none",
          .make =
              [row, length](Case& c) {
                return computing(c, row.make(c), row.functions.front().c_str(), length.share,
                                 length.slices);
              },
          .sizes = row.sizes,
          .least_ranks = 2};
}

// One-sided operations on a target that computes for a millisecond and makes no call.
constexpr double kBusySeconds = 0.001;

struct Passive {
  const char* name;
  const char* function;
  int (*issue)(char* memory, MPI_Win window, int bytes);
};
const Passive kPassive[] = {
    {"put", "MPI_Put",
     [](char* memory, MPI_Win window, int bytes) {
       return MPI_Put(memory, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
     }},
    {"get", "MPI_Get",
     [](char* memory, MPI_Win window, int bytes) {
       return MPI_Get(memory, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
     }},
    {"accumulate", "MPI_Accumulate", [](char* memory, MPI_Win window, int bytes) {
       const int longs = bytes / 8;
       return MPI_Accumulate(memory, longs, MPI_INT64_T, 1, 0, longs, MPI_INT64_T, MPI_SUM, window);
     }}};

Body on_busy_target(Case& c, const Passive& row) {
  const MPI_Win window = c.allocated_window(c.bytes);
  c.lock_all(window);
  char* const memory = c.memory(c.bytes);
  const int64_t rounds = rounds_of(kBusySeconds);
  Body body;
  if (c.rank == 0)
    body.call = [=, &c, issue = row.issue] {
      must(issue(memory, window, c.count()));
      must(MPI_Win_flush(1, window));
    };
  else
    body.call = [=] { compute(rounds); };
  body.after = [] {};  // one call a sample: the target's is of a fixed length
  return body;
}

Measurement entry(const Passive& row) {
  return {.name = std::string(row.name) + "-busy-target",
          .group = "overlap",
          .functions = {row.function, "MPI_Win_flush"},
          .section = "12.7",
          .timed = std::string(row.function).substr(4) +
                   ", Win_flush, within Win_lock_all; the target computes for 1 ms",
          .sample = fmt::format("the origin's calls; against {}-flush, it says whether the target "
                                "must call MPI for it to get on",
                                row.name),
          .buffers = "the same every time: hot",
          .make = [row](Case& c) { return on_busy_target(c, row); },
          .sizes = {8, 64 << 10},
          .who = Who::pair,
          .over = Over::first};
}

}  // namespace

std::vector<Measurement> overlap() {
  std::vector<Measurement> all;
  for (const Row& row : rows())
    for (const Length& length : kLengths) all.push_back(entry(row, length));
  for (const Passive& row : kPassive) all.push_back(entry(row));
  return all;
}

}  // namespace haichi::measure
