#include "replay/function.h"

#include <ctype.h>

#include <string>
#include <unordered_map>

namespace haichi::replay {
namespace {

using Names = std::unordered_map<std::string_view, Function>;

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
  if (!has_forms) return {};
  function.form = form;
  return function;
}

}  // namespace

Function function_of(std::string_view name) {
  if (!name.starts_with("MPI_")) return {};
  name.remove_prefix(4);
  if (name.ends_with("_c")) name.remove_suffix(2);  // of large counts
  for (const Names* names : {&blocking(), &of_requests()})
    if (const auto found = names->find(name); found != names->end()) return found->second;
  return other_form(name);
}

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
