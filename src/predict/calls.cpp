#include "predict/calls.h"

#include <algorithm>

namespace haichi::predict {
namespace {

struct Row {
  std::string_view name;
  Call call;
};

constexpr Call send(bool blocking, Mode mode) { return {Act::send, blocking, mode}; }
constexpr Call plain(Act act, bool blocking = true) { return {act, blocking}; }
constexpr Call persistent(Act makes, Mode mode = Mode::standard) {
  return {Act::make, false, mode, Collective::barrier, true, makes};
}
constexpr Call of(Collective collective, bool per_peer = true) {
  return {Act::collective, true, Mode::standard, collective, per_peer};
}

constexpr Row kRows[] = {
    {"MPI_Send", send(true, Mode::standard)},
    {"MPI_Rsend", send(true, Mode::standard)},
    {"MPI_Ssend", send(true, Mode::synchronous)},
    {"MPI_Bsend", send(true, Mode::buffered)},
    {"MPI_Isend", send(false, Mode::standard)},
    {"MPI_Irsend", send(false, Mode::standard)},
    {"MPI_Issend", send(false, Mode::synchronous)},
    {"MPI_Ibsend", send(false, Mode::buffered)},
    {"MPI_Recv", plain(Act::receive)},
    {"MPI_Mrecv", plain(Act::receive)},
    {"MPI_Irecv", plain(Act::receive, false)},
    {"MPI_Imrecv", plain(Act::receive, false)},
    {"MPI_Sendrecv", plain(Act::send_receive)},
    {"MPI_Sendrecv_replace", plain(Act::send_receive)},
    {"MPI_Isendrecv", plain(Act::send_receive, false)},
    {"MPI_Isendrecv_replace", plain(Act::send_receive, false)},
    {"MPI_Send_init", persistent(Act::send)},
    {"MPI_Rsend_init", persistent(Act::send)},
    {"MPI_Ssend_init", persistent(Act::send, Mode::synchronous)},
    {"MPI_Bsend_init", persistent(Act::send, Mode::buffered)},
    {"MPI_Recv_init", persistent(Act::receive)},
    {"MPI_Start", plain(Act::start)},
    {"MPI_Startall", plain(Act::start)},
    {"MPI_Request_free", plain(Act::free)},
    {"MPI_Wait", plain(Act::wait)},
    {"MPI_Waitall", plain(Act::wait)},
    {"MPI_Waitany", plain(Act::wait)},
    {"MPI_Waitsome", plain(Act::wait)},
    {"MPI_Test", plain(Act::wait)},
    {"MPI_Testall", plain(Act::wait)},
    {"MPI_Testany", plain(Act::wait)},
    {"MPI_Testsome", plain(Act::wait)},
    // What is probed for is received next, and that waits for it.
    {"MPI_Probe", plain(Act::nothing)},
    {"MPI_Mprobe", plain(Act::nothing)},
    {"MPI_Iprobe", plain(Act::nothing)},
    {"MPI_Improbe", plain(Act::nothing)},
    {"MPI_Put", plain(Act::put)},
    {"MPI_Accumulate", plain(Act::put)},
    {"MPI_Rput", plain(Act::put, false)},
    {"MPI_Raccumulate", plain(Act::put, false)},
    {"MPI_Get", plain(Act::get)},
    {"MPI_Get_accumulate", plain(Act::get)},
    {"MPI_Fetch_and_op", plain(Act::get)},
    {"MPI_Compare_and_swap", plain(Act::get)},
    {"MPI_Rget", plain(Act::get, false)},
    {"MPI_Rget_accumulate", plain(Act::get, false)},
    {"MPI_Win_fence", plain(Act::fence)},
    {"MPI_Win_flush", plain(Act::flush)},
    {"MPI_Win_flush_all", plain(Act::flush)},
    {"MPI_Win_flush_local", plain(Act::flush)},
    {"MPI_Win_flush_local_all", plain(Act::flush)},
    {"MPI_Win_unlock", plain(Act::flush)},
    {"MPI_Win_unlock_all", plain(Act::flush)},
    {"MPI_Win_complete", plain(Act::flush)},
    {"MPI_Win_lock", plain(Act::nothing)},
    {"MPI_Win_lock_all", plain(Act::nothing)},
    {"MPI_Barrier", of(Collective::barrier)},
    {"MPI_Bcast", of(Collective::bcast)},
    {"MPI_Reduce", of(Collective::reduce)},
    {"MPI_Allreduce", of(Collective::allreduce)},
    {"MPI_Gather", of(Collective::gather)},
    {"MPI_Gatherv", of(Collective::gather)},
    {"MPI_Scatter", of(Collective::scatter)},
    {"MPI_Scatterv", of(Collective::scatter)},
    {"MPI_Allgather", of(Collective::allgather)},
    {"MPI_Allgatherv", of(Collective::allgather)},
    {"MPI_Alltoall", of(Collective::alltoall)},
    {"MPI_Alltoallv", of(Collective::alltoall, false)},
    {"MPI_Alltoallw", of(Collective::alltoall, false)},
    {"MPI_Scan", of(Collective::scan)},
    {"MPI_Exscan", of(Collective::scan)},
    {"MPI_Reduce_scatter", of(Collective::reduce_scatter, false)},
    {"MPI_Reduce_scatter_block", of(Collective::reduce_scatter, false)},
};

const Row* row_of(std::string_view name) {
  const auto at = std::find_if(std::begin(kRows), std::end(kRows),
                               [&](const Row& row) { return row.name == name; });
  return at == std::end(kRows) ? nullptr : at;
}

}  // namespace

Call call_of(std::string_view name) {
  if (name.ends_with("_c")) name.remove_suffix(2);
  if (const Row* const row = row_of(name)) return row->call;
  // MPI_Iallreduce is MPI_Allreduce that does not wait.
  constexpr std::string_view kNonblocking = "MPI_I";
  if (!name.starts_with(kNonblocking) || name.size() == kNonblocking.size()) return {};
  std::string blocking = "MPI_" + std::string(name.substr(kNonblocking.size()));
  if (blocking[4] >= 'a' && blocking[4] <= 'z') blocking[4] = char(blocking[4] - 'a' + 'A');
  const Row* const row = row_of(blocking);
  if (row == nullptr || row->call.act != Act::collective) return {};
  Call call = row->call;
  call.blocking = false;
  return call;
}

bool meets_all(Collective collective) {
  switch (collective) {
    case Collective::barrier:
    case Collective::allreduce:
    case Collective::allgather:
    case Collective::alltoall:
    case Collective::reduce_scatter:
      return true;
    default:
      return false;
  }
}

}  // namespace haichi::predict
