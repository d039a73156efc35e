// What a recorded call is, for one that makes it again.
#pragma once

#include <cstdint>
#include <string_view>

namespace haichi::replay {

enum class Kind : uint8_t {
  unknown,
  send,
  receive,
  exchange,  // MPI_Sendrecv, MPI_Sendrecv_replace
  probe,
  wait,
  test,
  start,
  free_request,
  collective,
  new_comm,  // collective, and makes a communicator
  window,    // of OneSided
  file,      // of FileCall
  nothing,   // what it would do was done before
};

enum class Collective : uint8_t {
  none,
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  neighbor_allgather,
  neighbor_alltoall,
};

enum class OneSided : uint8_t {
  none,
  create,
  free,
  fence,
  lock,
  unlock,
  lock_all,
  unlock_all,
  flush,
  flush_all,
  sync,
  put,
  get,
  accumulate,
  get_accumulate,
  fetch,
  swap,
};

enum class FileCall : uint8_t {
  none,
  open,
  close,
  set_view,
  set_size,
  sync,
  read,
  write,
  read_all,
  write_all,
};

enum class Form : uint8_t { blocking, nonblocking, persistent };

struct Function {
  Kind kind = Kind::unknown;
  Form form = Form::blocking;
  Collective collective = Collective::none;
  OneSided one_sided = OneSided::none;
  FileCall file_call = FileCall::none;
  bool synchronous = false;  ///< of a send: is over when it is received
  bool buffered = false;     ///< of a send: is over at once

  friend bool operator==(const Function&, const Function&) = default;
};

/// By its name in the record, such as "MPI_Iallreduce". A name that nobody replays is
/// Kind::unknown.
Function function_of(std::string_view name);

/// Whether all ranks of the communicator make it together.
bool is_collective(const Function& function);
/// Of a window's memory.
bool is_access(OneSided call);
bool is_rooted(Collective collective);
/// Whether each rank has a number of bytes of its own for each other.
bool is_varying(Collective collective);
bool is_reduction(Collective collective);
bool is_among_neighbours(Collective collective);

}  // namespace haichi::replay
