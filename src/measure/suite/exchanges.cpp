// Shift and exchange, each written in every way that MPI offers (paper 001, 3.6 and Table 5): a
// shift goes to the next rank of a ring, an exchange to all others, first to the one behind this
// rank, so that no two ranks send to the same one at a time (Fig. 14 b).
#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

constexpr int kTag = 4;

// Whom this rank sends to and receives from, in the order of its messages.
struct Peers {
  std::vector<int> to, from;
  int count() const { return int(to.size()); }
};

Peers ring(const Case& c) { return {{(c.rank + 1) % c.ranks}, {(c.rank + c.ranks - 1) % c.ranks}}; }

Peers everybody(const Case& c) {
  Peers peers;
  for (int i = 1; i < c.ranks; ++i) {
    peers.to.push_back((c.rank + i) % c.ranks);
    peers.from.push_back((c.rank + c.ranks - i) % c.ranks);
  }
  return peers;
}

// A block for each message in and out.
struct Blocks {
  char *out, *in;
  int64_t bytes;
  char* out_of(int i) const { return out + i * bytes; }
  char* in_of(int i) const { return in + i * bytes; }
};

Blocks blocks(Case& c, int count) {
  return {c.memory(count * c.bytes), c.memory(count * c.bytes), c.bytes};
}

void post_receives(const Case& c, const Peers& peers, const Blocks& b, MPI_Request* requests) {
  for (int i = 0; i < peers.count(); ++i)
    must(MPI_Irecv(b.in_of(i), c.count(), MPI_BYTE, peers.from[size_t(i)], kTag, c.comm,
                   &requests[i]));
}

Body by_isend(Case& c, const Peers& peers) {
  const Blocks b = blocks(c, peers.count());
  const int n = peers.count();
  MPI_Request* const requests = c.requests(2 * n);
  return {.call = [=, &c] {
    post_receives(c, peers, b, requests);
    for (int i = 0; i < n; ++i)
      must(MPI_Isend(b.out_of(i), c.count(), MPI_BYTE, peers.to[size_t(i)], kTag, c.comm,
                     &requests[n + i]));
    must(MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE));
  }};
}

// `barriers`: one behind each send, which keeps the ranks from running into each other.
Body by_send(Case& c, const Peers& peers, bool barriers) {
  const Blocks b = blocks(c, peers.count());
  const int n = peers.count();
  MPI_Request* const requests = c.requests(n);
  return {.call = [=, &c] {
    post_receives(c, peers, b, requests);
    for (int i = 0; i < n; ++i) {
      must(MPI_Send(b.out_of(i), c.count(), MPI_BYTE, peers.to[size_t(i)], kTag, c.comm));
      if (barriers) must(MPI_Barrier(c.comm));
    }
    must(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
  }};
}

Body by_sendrecv(Case& c, const Peers& peers) {
  const Blocks b = blocks(c, peers.count());
  return {.call = [=, &c] {
    for (int i = 0; i < peers.count(); ++i)
      must(MPI_Sendrecv(b.out_of(i), c.count(), MPI_BYTE, peers.to[size_t(i)], kTag, b.in_of(i),
                        c.count(), MPI_BYTE, peers.from[size_t(i)], kTag, c.comm,
                        MPI_STATUS_IGNORE));
  }};
}

Body by_persistent(Case& c, const Peers& peers) {
  const Blocks b = blocks(c, peers.count());
  const int n = peers.count();
  MPI_Request* const requests = c.requests(2 * n);
  for (int i = 0; i < n; ++i) {
    c.persistent("MPI_Recv_init", &requests[i], [&](MPI_Request* made) {
      return MPI_Recv_init(b.in_of(i), c.count(), MPI_BYTE, peers.from[size_t(i)], kTag, c.comm,
                           made);
    });
    c.persistent("MPI_Send_init", &requests[n + i], [&](MPI_Request* made) {
      return MPI_Send_init(b.out_of(i), c.count(), MPI_BYTE, peers.to[size_t(i)], kTag, c.comm,
                           made);
    });
  }
  return {.call = [=] {
    must(MPI_Startall(2 * n, requests));
    must(MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE));
  }};
}

// Between two fences; the window is one block for each message that comes in. The i-th message of a
// rank goes into the i-th block of its target: from another rank for each i.
Body by_window(Case& c, const Peers& peers, bool puts) {
  const Blocks b = blocks(c, peers.count());
  const MPI_Win window = c.window("MPI_Win_create", [&](MPI_Win* made) {
    return MPI_Win_create(puts ? b.in : b.out, peers.count() * c.bytes, 1, MPI_INFO_NULL, c.comm,
                          made);
  });
  c.together("MPI_Win_fence", [&] { must(MPI_Win_fence(0, window)); });
  return {.call = [=, &c] {
    for (int i = 0; i < peers.count(); ++i)
      must(puts ? MPI_Put(b.out_of(i), c.count(), MPI_BYTE, peers.to[size_t(i)], i * c.bytes,
                          c.count(), MPI_BYTE, window)
                : MPI_Get(b.in_of(i), c.count(), MPI_BYTE, peers.from[size_t(i)], i * c.bytes,
                          c.count(), MPI_BYTE, window));
    must(MPI_Win_fence(0, window));
  }};
}

Body by_neighbours(Case& c, const Peers& peers) {
  const Blocks b = blocks(c, peers.count());
  const MPI_Comm graph = c.communicator("MPI_Dist_graph_create_adjacent", [&](MPI_Comm* made) {
    return MPI_Dist_graph_create_adjacent(c.comm, peers.count(), peers.from.data(), MPI_UNWEIGHTED,
                                          peers.count(), peers.to.data(), MPI_UNWEIGHTED,
                                          MPI_INFO_NULL, 0, made);
  });
  return {.call = [=, &c] {
    must(MPI_Neighbor_alltoall(b.out, c.count(), MPI_BYTE, b.in, c.count(), MPI_BYTE, graph));
  }};
}

// Nothing for whom this rank has no message.
Body by_alltoallv(Case& c, const Peers& peers) {
  const Blocks b = blocks(c, peers.count());
  int* const out_counts = c.values<int>(c.ranks);
  int* const in_counts = c.values<int>(c.ranks);
  int* const out_places = c.values<int>(c.ranks);
  int* const in_places = c.values<int>(c.ranks);
  for (int i = 0; i < peers.count(); ++i) {
    out_counts[peers.to[size_t(i)]] = in_counts[peers.from[size_t(i)]] = c.count();
    out_places[peers.to[size_t(i)]] = in_places[peers.from[size_t(i)]] = i * c.count();
  }
  return {.call = [=, &c] {
    must(MPI_Alltoallv(b.out, out_counts, out_places, MPI_BYTE, b.in, in_counts, in_places,
                       MPI_BYTE, c.comm));
  }};
}

struct Way {
  const char* name;
  std::vector<std::string> functions;
  const char* timed;
  Body (*make)(Case&, const Peers&);
};

std::vector<Way> ways() {
  return {
      {"isend",
       {"MPI_Isend", "MPI_Irecv", "MPI_Waitall"},
       "all Irecv, all Isend, Waitall",
       by_isend},
      {"send",
       {"MPI_Send", "MPI_Irecv"},
       "all Irecv, all Send, Waitall",
       [](Case& c, const Peers& peers) { return by_send(c, peers, false); }},
      {"send-barrier",
       {"MPI_Send", "MPI_Barrier"},
       "all Irecv, each Send with a Barrier behind it, Waitall",
       [](Case& c, const Peers& peers) { return by_send(c, peers, true); }},
      {"sendrecv", {"MPI_Sendrecv"}, "a Sendrecv for each", by_sendrecv},
      {"put",
       {"MPI_Put", "MPI_Win_fence"},
       "all Put, Win_fence",
       [](Case& c, const Peers& peers) { return by_window(c, peers, true); }},
      {"get",
       {"MPI_Get", "MPI_Win_fence"},
       "all Get, Win_fence",
       [](Case& c, const Peers& peers) { return by_window(c, peers, false); }},
      {"neighbor",
       {"MPI_Neighbor_alltoall"},
       "Neighbor_alltoall on a graph of the peers",
       by_neighbours},
      {"alltoallv", {"MPI_Alltoallv"}, "Alltoallv, nothing for others", by_alltoallv},
      {"persistent",
       {"MPI_Startall", "MPI_Waitall"},
       "Startall of all messages, Waitall",
       by_persistent},
  };
}

void add(const std::string& pattern, Peers (*peers)(const Case&), const Way& way,
         std::vector<Measurement>& all) {
  all.push_back({.name = pattern + "-" + way.name,
                 .group = "exchange",
                 .functions = way.functions,
                 .section = "3.7",
                 .timed = way.timed,
                 .sample = pattern == "shift" ? "one message from each rank to the next of a ring"
                                              : "one message from each rank to each other",
                 .buffers = "a block for each message in and out, the same every time: hot",
                 .make = [make = way.make, peers](Case& c) { return make(c, peers(c)); },
                 .sizes = kBlocks,
                 .least_ranks = 2});
}

}  // namespace

std::vector<Measurement> exchanges() {
  std::vector<Measurement> all;
  for (const Way& way : ways()) add("shift", ring, way, all);
  for (const Way& way : ways()) add("exchange", everybody, way, all);
  return all;
}

}  // namespace haichi::measure
