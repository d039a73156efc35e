#include "replay/function.h"

#include <ctype.h>

#include <string>
#include <unordered_map>

namespace haichi::replay {
namespace {

using Names = std::unordered_map<std::string_view, Function>;

Function one_sided(OneSided which) { return {.kind = Kind::window, .one_sided = which}; }
Function file_call(FileCall which) { return {.kind = Kind::file, .file_call = which}; }

Function collective(Collective which) { return {.kind = Kind::collective, .collective = which}; }

// Blocking functions without "MPI_"; the others' names are made of theirs.
const Names& blocking() {
  constexpr Function send{.kind = Kind::send}, receive{.kind = Kind::receive};
  constexpr Function exchange{.kind = Kind::exchange}, probe{.kind = Kind::probe};
  constexpr Function new_comm{.kind = Kind::new_comm};
  static const Names names{
      {"Send", send},
      {"Rsend", send},
      {"Ssend", {.kind = Kind::send, .synchronous = true}},
      {"Bsend", {.kind = Kind::send, .buffered = true}},
      {"Recv", receive},
      {"Mrecv", receive},
      {"Sendrecv", exchange},
      {"Sendrecv_replace", exchange},
      {"Probe", probe},
      {"Mprobe", probe},
      {"Barrier", collective(Collective::barrier)},
      {"Bcast", collective(Collective::bcast)},
      {"Gather", collective(Collective::gather)},
      {"Gatherv", collective(Collective::gatherv)},
      {"Scatter", collective(Collective::scatter)},
      {"Scatterv", collective(Collective::scatterv)},
      {"Allgather", collective(Collective::allgather)},
      {"Allgatherv", collective(Collective::allgatherv)},
      {"Alltoall", collective(Collective::alltoall)},
      {"Alltoallv", collective(Collective::alltoallv)},
      {"Alltoallw", collective(Collective::alltoallv)},
      {"Reduce", collective(Collective::reduce)},
      {"Allreduce", collective(Collective::allreduce)},
      {"Reduce_scatter", collective(Collective::reduce_scatter)},
      {"Reduce_scatter_block", collective(Collective::reduce_scatter_block)},
      {"Scan", collective(Collective::scan)},
      {"Exscan", collective(Collective::exscan)},
      {"Neighbor_allgather", collective(Collective::neighbor_allgather)},
      {"Neighbor_alltoall", collective(Collective::neighbor_alltoall)},
      {"Comm_dup", new_comm},
      {"Comm_dup_with_info", new_comm},
      {"Comm_split", new_comm},
      {"Comm_split_type", new_comm},
      {"Comm_create", new_comm},
      {"Cart_create", new_comm},
      {"Cart_sub", new_comm},
      {"Graph_create", new_comm},
      {"Dist_graph_create", new_comm},
      {"Dist_graph_create_adjacent", new_comm},
      {"Comm_free", {.kind = Kind::nothing}},  // such communicators are freed at once
  };
  return names;
}

const Names& of_requests() {
  constexpr Function wait{.kind = Kind::wait}, test{.kind = Kind::test}, start{.kind = Kind::start};
  static const Names names{
      {"Wait", wait},
      {"Waitall", wait},
      {"Waitany", wait},
      {"Waitsome", wait},
      {"Test", test},
      {"Testall", test},
      {"Testany", test},
      {"Testsome", test},
      {"Request_get_status", test},
      {"Iprobe", test},
      {"Improbe", test},
      {"Start", start},
      {"Startall", start},
      {"Request_free", {.kind = Kind::free_request}},
  };
  return names;
}

const Names& of_windows() {
  static const Names names{
      {"Win_create", one_sided(OneSided::create)},
      {"Win_allocate", one_sided(OneSided::create)},
      {"Win_allocate_shared", one_sided(OneSided::create)},
      {"Win_free", one_sided(OneSided::free)},
      {"Win_fence", one_sided(OneSided::fence)},
      {"Win_lock", one_sided(OneSided::lock)},
      {"Win_unlock", one_sided(OneSided::unlock)},
      {"Win_lock_all", one_sided(OneSided::lock_all)},
      {"Win_unlock_all", one_sided(OneSided::unlock_all)},
      {"Win_flush", one_sided(OneSided::flush)},
      {"Win_flush_local", one_sided(OneSided::flush)},
      {"Win_flush_all", one_sided(OneSided::flush_all)},
      {"Win_flush_local_all", one_sided(OneSided::flush_all)},
      {"Win_sync", one_sided(OneSided::sync)},
      {"Put", one_sided(OneSided::put)},
      {"Get", one_sided(OneSided::get)},
      {"Accumulate", one_sided(OneSided::accumulate)},
      {"Get_accumulate", one_sided(OneSided::get_accumulate)},
      {"Fetch_and_op", one_sided(OneSided::fetch)},
      {"Compare_and_swap", one_sided(OneSided::swap)},
  };
  return names;
}

const Names& of_files() {
  static const Names names{
      {"File_open", file_call(FileCall::open)},
      {"File_close", file_call(FileCall::close)},
      {"File_set_view", file_call(FileCall::set_view)},
      {"File_set_size", file_call(FileCall::set_size)},
      {"File_preallocate", file_call(FileCall::set_size)},
      {"File_sync", file_call(FileCall::sync)},
  };
  return names;
}

// MPI_Rput and its kin.
Function with_request(std::string_view name) {
  if (!name.starts_with('R') || name.size() < 2) return {};
  std::string base(name.substr(1));
  base[0] = char(toupper(base[0]));
  const auto found = of_windows().find(base);
  if (found == of_windows().end() || !is_access(found->second.one_sided)) return {};
  Function function = found->second;
  function.form = Form::nonblocking;
  return function;
}

// MPI_File_read, write, iread, iwrite, with all that may follow. Of split calls the first does it.
Function file_access(std::string_view name) {
  if (!name.starts_with("File_")) return {};
  name.remove_prefix(5);
  const bool nonblocking = name.starts_with('i');
  if (nonblocking) name.remove_prefix(1);
  const bool reads = name.starts_with("read"), writes = name.starts_with("write");
  if (!reads && !writes) return {};
  if (name.ends_with("_end")) return {.kind = Kind::nothing};
  const bool all = name.find("_all") != name.npos || name.find("_ordered") != name.npos;
  Function function = file_call(reads ? (all ? FileCall::read_all : FileCall::read)
                                      : (all ? FileCall::write_all : FileCall::write));
  if (nonblocking) function.form = Form::nonblocking;
  return function;
}

// The blocking function that another form of it is named by.
Function other_form(std::string_view name) {
  std::string base;
  Form form = Form::nonblocking;
  if (name.ends_with("_init")) {
    base = name.substr(0, name.size() - 5);
    form = Form::persistent;
  } else if (name.size() > 1 && name[0] == 'I') {
    base = name.substr(1);
    base[0] = char(toupper(base[0]));
  }
  const auto found = blocking().find(base);
  if (found == blocking().end()) return {};
  Function function = found->second;
  const Kind kind = function.kind;
  const bool has_forms = kind == Kind::send || kind == Kind::receive || kind == Kind::collective;
  const bool begins = kind == Kind::exchange && form == Form::nonblocking;  // MPI_Isendrecv
  if (!has_forms && !begins) return {};
  function.form = form;
  return function;
}

}  // namespace

Function function_of(std::string_view name) {
  if (!name.starts_with("MPI_")) return {};
  name.remove_prefix(4);
  if (name.ends_with("_c")) name.remove_suffix(2);  // of large counts
  for (const Names* names : {&blocking(), &of_requests(), &of_windows(), &of_files()})
    if (const auto found = names->find(name); found != names->end()) return found->second;
  for (const auto read : {file_access, with_request, other_form})
    if (const Function function = read(name); function.kind != Kind::unknown) return function;
  return {};
}

bool is_collective(const Function& function) {
  switch (function.kind) {
    case Kind::collective:
    case Kind::new_comm:
      return true;
    case Kind::window:
      return function.one_sided == OneSided::create || function.one_sided == OneSided::free ||
             function.one_sided == OneSided::fence;
    case Kind::file:
      return function.file_call != FileCall::read && function.file_call != FileCall::write;
    default:
      return false;
  }
}

bool is_access(OneSided call) { return call >= OneSided::put; }

bool is_rooted(Collective collective) {
  switch (collective) {
    case Collective::bcast:
    case Collective::gather:
    case Collective::gatherv:
    case Collective::scatter:
    case Collective::scatterv:
    case Collective::reduce:
      return true;
    default:
      return false;
  }
}

bool is_varying(Collective collective) {
  switch (collective) {
    case Collective::gatherv:
    case Collective::scatterv:
    case Collective::allgatherv:
    case Collective::alltoallv:
      return true;
    default:
      return false;
  }
}

bool is_reduction(Collective collective) {
  switch (collective) {
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
    case Collective::scan:
    case Collective::exscan:
      return true;
    default:
      return false;
  }
}

bool is_among_neighbours(Collective collective) {
  return collective == Collective::neighbor_allgather ||
         collective == Collective::neighbor_alltoall;
}

}  // namespace haichi::replay
