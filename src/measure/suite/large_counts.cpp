// The calls with large counts of MPI 4, beside those with an int; of 2 GiB and more with --size.
#include <algorithm>

#include "measure/case/case.h"
#include "measure/suite/groups.h"
#include "measure/suite/scratch_file.h"

namespace haichi::measure {

#if MPI_VERSION >= 4
namespace {

constexpr int kTag = 7;

Measurement entry(std::string name, std::vector<std::string> functions, std::string section,
                  std::string timed, Sizes sizes, std::function<Body(Case&)> make) {
  return {.name = std::move(name),
          .group = "large-count",
          .functions = std::move(functions),
          .section = std::move(section),
          .timed = std::move(timed),
          .sample = "the calls on all ranks, begun behind a barrier",
          .buffers = "the same every time: hot",
          .make = std::move(make),
          .sizes = sizes,
          .wide = true};
}

// One buffer for both ways: of 2 GiB there need not be two.
Body ping_pong(Case& c) {
  char* const memory = c.memory(c.bytes);
  const auto send = [=, &c] {
    must(MPI_Send_c(memory, c.bytes, MPI_BYTE, c.peer(), kTag, c.comm));
  };
  const auto receive = [=, &c] {
    must(MPI_Recv_c(memory, c.bytes, MPI_BYTE, c.peer(), kTag, c.comm, MPI_STATUS_IGNORE));
  };
  if (c.rank == 0)
    return {.call = [=] {
      send();
      receive();
    }};
  return {.call = [=] {
    receive();
    send();
  }};
}

Body alltoall(Case& c) {
  char *const out = c.memory(c.ranks * c.bytes), *const in = c.memory(c.ranks * c.bytes);
  return {.call = [=, &c] {
    must(MPI_Alltoall_c(out, c.bytes, MPI_BYTE, in, c.bytes, MPI_BYTE, c.comm));
  }};
}

Body allreduce(Case& c) {
  char *const out = c.memory(c.bytes), *const in = c.memory(c.bytes);
  const MPI_Count floats = std::max<MPI_Count>(1, c.bytes / MPI_Count(sizeof(float)));
  return {.call = [=, &c] { must(MPI_Allreduce_c(out, in, floats, MPI_FLOAT, MPI_SUM, c.comm)); }};
}

template <auto call>
Body file_access(Case& c) {
  char* const memory = c.memory(c.bytes);
  const MPI_File file = scratch_file(c);
  const MPI_Offset offset = c.rank * c.bytes;
  MPI_Status status;
  c.alone("MPI_File_write_at_c",
          [&] { must(MPI_File_write_at_c(file, offset, memory, c.bytes, MPI_BYTE, &status)); });
  must_be_whole(&status, c.bytes);
  return {
      .call = [=, &c] { must(call(file, offset, memory, c.bytes, MPI_BYTE, MPI_STATUS_IGNORE)); }};
}

}  // namespace

std::vector<Measurement> large_counts() {
  Measurement pair = entry("ping-pong-large-count", {"MPI_Send_c", "MPI_Recv_c"}, "3.2",
                           "Send_c, Recv_c; the other Recv_c, Send_c", kMessages, ping_pong);
  pair.sample = "one round trip, on the rank that begins";
  pair.who = Who::pair;
  pair.start = Start::back_to_back;
  pair.over = Over::first;
  pair.parts = 2;
  return {std::move(pair),
          entry("bcast-large-count", {"MPI_Bcast_c"}, "6.4", "Bcast_c", kBlocks,
                [](Case& c) {
                  char* const memory = c.memory(c.bytes);
                  return Body{
                      .call = [=, &c] { must(MPI_Bcast_c(memory, c.bytes, MPI_BYTE, 0, c.comm)); }};
                }),
          entry("allreduce-large-count", {"MPI_Allreduce_c"}, "6.9.6",
                "Allreduce_c, a sum of floats", kBlocks, allreduce),
          entry("alltoall-large-count", {"MPI_Alltoall_c"}, "6.8", "Alltoall_c", kBlocks, alltoall),
          entry("file-write-at-large-count", {"MPI_File_write_at_c"}, "14.4", "File_write_at_c",
                kAccesses, file_access<MPI_File_write_at_c>),
          entry("file-read-at-large-count", {"MPI_File_read_at_c"}, "14.4", "File_read_at_c",
                kAccesses, file_access<MPI_File_read_at_c>)};
}
#else
std::vector<Measurement> large_counts() { return {}; }
#endif

}  // namespace haichi::measure
