// The time of a call alone, many in a row, as paper 001, 3.5 and Table 3 have it: of sends,
// receives and one-sided operations.
#include <ctype.h>

#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

constexpr int kBurst = 200;  // calls in a row, as in the paper
constexpr int kTag = 1;

Measurement entry(std::string function, std::string section, std::string state,
                  std::function<Body(Case&)> make) {
  std::string name = "call-";
  for (const char letter : function.substr(4)) name += char(tolower(letter));
  return {.name = std::move(name),
          .group = "p2p",
          .functions = {function},
          .section = std::move(section),
          .timed = function.substr(4) + " 200 times; " + std::move(state),
          .sample = "200 calls in a row, on the rank that makes them (paper 001, 3.5)",
          .buffers = "one for each of the 200 messages",
          .make = std::move(make),
          .sizes = {4, 4 << 10},
          .who = Who::pair,
          .start = Start::barrier,
          .over = Over::first,
          .parts = kBurst};
}

// What a rank does with each of the messages; the request is its own.
using Each = void (*)(Case& c, char* at, MPI_Request* request);

void isend(Case& c, char* at, MPI_Request* request) {
  must(MPI_Isend(at, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, request));
}

void irecv(Case& c, char* at, MPI_Request* request) {
  must(MPI_Irecv(at, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, request));
}

// The first rank does `timed` 200 times; the other one `before` it, if anything, so that the first
// finds it done, and `after` it, if anything.
Body in_a_row(Case& c, Each timed, Each before, Each after) {
  char* const memory = c.memory(kBurst * c.bytes);
  MPI_Request* const requests = c.requests(kBurst);
  const auto all = [=, &c](Each each) {
    return [=, &c] {
      for (int i = 0; i < kBurst; ++i) each(c, memory + i * c.bytes, &requests[i]);
    };
  };
  const auto complete = [=] { must(MPI_Waitall(kBurst, requests, MPI_STATUSES_IGNORE)); };
  if (c.rank == 0) return {.call = all(timed), .after = complete};
  Body body{.call = [] {}};
  if (before != nullptr) body.before = all(before);
  body.after = [=] {
    if (after != nullptr) all(after)();
    complete();
  };
  return body;
}

std::vector<Measurement> messages() {
  const std::string posted = "receives are posted";
  std::vector<Measurement> all;
  all.push_back(entry("MPI_Send", "3.2", posted, [](Case& c) {
    const Each send = [](Case& of, char* at, MPI_Request*) {
      must(MPI_Send(at, of.count(), MPI_BYTE, 1, kTag, of.comm));
    };
    return in_a_row(c, send, irecv, nullptr);
  }));
  all.push_back(entry("MPI_Isend", "3.7", posted,
                      [](Case& c) { return in_a_row(c, isend, irecv, nullptr); }));
  all.push_back(entry("MPI_Recv", "3.2", "the messages are there", [](Case& c) {
    const Each receive = [](Case& of, char* at, MPI_Request*) {
      must(MPI_Recv(at, of.count(), MPI_BYTE, 1, kTag, of.comm, MPI_STATUS_IGNORE));
    };
    return in_a_row(c, receive, isend, nullptr);
  }));
  all.push_back(entry("MPI_Irecv", "3.7", "the messages are sent later",
                      [](Case& c) { return in_a_row(c, irecv, nullptr, isend); }));
  return all;
}

using Operation = int (*)(char* memory, int ints, MPI_Win window);

// Behind each burst is a fence, which is not timed.
Body operations_in_a_row(Case& c, Operation operation) {
  const int ints = int(c.bytes / 4) + (c.bytes < 4 ? 1 : 0);
  char* const memory = c.memory(kBurst * int64_t(ints) * 4);
  const MPI_Win window = c.allocated_window(int64_t(ints) * 4);
  c.together("MPI_Win_fence", [&] { must(MPI_Win_fence(0, window)); });
  Body body{.call = [] {}, .after = [=] { must(MPI_Win_fence(0, window)); }};
  if (c.rank == 0)
    body.call = [=] {
      for (int64_t i = 0; i < kBurst; ++i) must(operation(memory + i * ints * 4, ints, window));
    };
  return body;
}

std::vector<Measurement> operations() {
  const std::string within = "the fence behind them is not timed";
  std::vector<Measurement> all;
  all.push_back(entry("MPI_Put", "12.3.1", within, [](Case& c) {
    return operations_in_a_row(c, [](char* memory, int ints, MPI_Win window) {
      return MPI_Put(memory, ints, MPI_INT32_T, 1, 0, ints, MPI_INT32_T, window);
    });
  }));
  all.push_back(entry("MPI_Get", "12.3.2", within, [](Case& c) {
    return operations_in_a_row(c, [](char* memory, int ints, MPI_Win window) {
      return MPI_Get(memory, ints, MPI_INT32_T, 1, 0, ints, MPI_INT32_T, window);
    });
  }));
  all.push_back(entry("MPI_Accumulate", "12.3.4", within, [](Case& c) {
    return operations_in_a_row(c, [](char* memory, int ints, MPI_Win window) {
      return MPI_Accumulate(memory, ints, MPI_INT32_T, 1, 0, ints, MPI_INT32_T, MPI_SUM, window);
    });
  }));
  for (Measurement& each : all) each.group = "rma";
  return all;
}

}  // namespace

std::vector<Measurement> calls() {
  std::vector<Measurement> all = messages();
  for (Measurement& each : operations()) all.push_back(std::move(each));
  return all;
}

}  // namespace haichi::measure
