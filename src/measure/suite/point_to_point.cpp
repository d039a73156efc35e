// Messages between two ranks, in every mode, and between many pairs at once.
//
// A ping-pong keeps its two ranks in step by itself, so its samples follow each other without a
// barrier, whose own end would be in them.
#include <algorithm>

#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

constexpr int kWindow = 64;  // messages outstanding in a stream, as OSU's osu_bw has them
constexpr int kTag = 1;

constexpr const char* kPerRank = "one to send from and one to receive in, the same every time: hot";
constexpr const char* kRoundTrip = "one round trip, on the rank that begins";

Measurement ping_pong_entry(std::string name, std::vector<std::string> functions,
                            std::string section, std::string timed,
                            std::function<Body(Case&)> make) {
  return {.name = std::move(name),
          .group = "p2p",
          .functions = std::move(functions),
          .section = std::move(section),
          .timed = std::move(timed),
          .sample = kRoundTrip,
          .buffers = kPerRank,
          .make = std::move(make),
          .sizes = kMessages,
          .who = Who::pair,
          .start = Start::back_to_back,
          .over = Over::first,
          .parts = 2};
}

// The first rank sends and receives, the other one receives and sends.
template <class Send, class Receive>
Body ping_pong(Case& c, Send send, Receive receive) {
  char* const out = c.memory(c.bytes);
  char* const in = c.memory(c.bytes);
  if (c.rank == 0)
    return {.call = [=] {
      send(out);
      receive(in);
    }};
  return {.call = [=] {
    receive(in);
    send(out);
  }};
}

auto receiver(Case& c) {
  return [&c](char* in) {
    must(MPI_Recv(in, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, MPI_STATUS_IGNORE));
  };
}

auto sender(Case& c) {
  return [&c](char* out) { must(MPI_Send(out, c.count(), MPI_BYTE, c.peer(), kTag, c.comm)); };
}

using SendCall = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
using IsendCall = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

Body blocking(Case& c, SendCall call) {
  return ping_pong(
      c, [&c, call](char* out) { must(call(out, c.count(), MPI_BYTE, c.peer(), kTag, c.comm)); },
      receiver(c));
}

// The memory that buffered sends are kept in.
void attach_send_buffer(Case& c) {
  const int64_t size = 4 * (c.bytes + MPI_BSEND_OVERHEAD);
  char* const memory = c.memory(size);
  c.alone("MPI_Buffer_attach", [&] { must(MPI_Buffer_attach(memory, int(size))); });
  c.at_end([] {
    void* back = nullptr;
    int bytes = 0;
    must(MPI_Buffer_detach(&back, &bytes));
  });
}

Body nonblocking(Case& c, IsendCall call) {
  MPI_Request* const request = c.requests(1);
  return ping_pong(
      c,
      [&c, call, request](char* out) {
        must(call(out, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, request));
        must(MPI_Wait(request, MPI_STATUS_IGNORE));
      },
      [&c, request](char* in) {
        must(MPI_Irecv(in, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, request));
        must(MPI_Wait(request, MPI_STATUS_IGNORE));
      });
}

// None goes on before the other has posted its receive.
void meet(Case& c) {
  c.together("MPI_Barrier", [&] { must(MPI_Barrier(c.comm)); });
}

// Each rank posts its next receive before it sends, so that a ready send finds one on the other
// side: the message that it answers was sent behind it.
template <class Send>
Body ready(Case& c, Send send) {
  char* const out = c.memory(c.bytes);
  char* const in = c.memory(c.bytes);
  MPI_Request* const posted = c.requests(1);
  const auto post = [=, &c] {
    must(MPI_Irecv(in, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, posted));
  };
  Body body;
  if (c.rank == 0) {
    body.call = [=] {
      post();
      send(out);
      must(MPI_Wait(posted, MPI_STATUS_IGNORE));
    };
    meet(c);
    return body;
  }
  c.withdraw_at_end(posted, 1);
  c.alone("MPI_Irecv", post);
  meet(c);
  body.call = [=] {
    must(MPI_Wait(posted, MPI_STATUS_IGNORE));
    post();
    send(out);
  };
  return body;
}

using InitCall = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

Body persistent(Case& c, const char* function, InitCall call) {
  MPI_Request* const requests = c.requests(2);
  char* const out = c.memory(c.bytes);
  char* const in = c.memory(c.bytes);
  c.persistent(function, &requests[0], [&](MPI_Request* made) {
    return call(out, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, made);
  });
  c.persistent("MPI_Recv_init", &requests[1], [&](MPI_Request* made) {
    return MPI_Recv_init(in, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, made);
  });
  const auto carry_out = [](MPI_Request* request) {
    must(MPI_Start(request));
    must(MPI_Wait(request, MPI_STATUS_IGNORE));
  };
  const int sends_first = c.rank == 0 ? 0 : 1;
  return {.call = [=] {
    carry_out(&requests[sends_first]);
    carry_out(&requests[1 - sends_first]);
  }};
}

std::vector<Measurement> ping_pongs() {
  std::vector<Measurement> all;
  all.push_back(ping_pong_entry("ping-pong", {"MPI_Send", "MPI_Recv"}, "3.2",
                                "Send, Recv; the other Recv, Send",
                                [](Case& c) { return blocking(c, MPI_Send); }));
  all.push_back(ping_pong_entry("ping-pong-ssend", {"MPI_Ssend"}, "3.4",
                                "Ssend, Recv; the other Recv, Ssend",
                                [](Case& c) { return blocking(c, MPI_Ssend); }));
  all.push_back(ping_pong_entry("ping-pong-bsend", {"MPI_Bsend"}, "3.4",
                                "Bsend, Recv; the other Recv, Bsend", [](Case& c) {
                                  attach_send_buffer(c);
                                  return blocking(c, MPI_Bsend);
                                }));
  all.push_back(
      ping_pong_entry("ping-pong-rsend", {"MPI_Rsend"}, "3.4",
                      "Irecv, Rsend, Wait; the other Wait, Irecv, Rsend", [](Case& c) {
                        return ready(c, [&c](char* out) {
                          must(MPI_Rsend(out, c.count(), MPI_BYTE, c.peer(), kTag, c.comm));
                        });
                      }));
  all.push_back(ping_pong_entry("ping-pong-isend", {"MPI_Isend", "MPI_Irecv", "MPI_Wait"}, "3.7",
                                "Isend, Wait, Irecv, Wait; the other receives first",
                                [](Case& c) { return nonblocking(c, MPI_Isend); }));
  all.push_back(ping_pong_entry("ping-pong-issend", {"MPI_Issend"}, "3.7",
                                "Issend, Wait, Irecv, Wait; the other receives first",
                                [](Case& c) { return nonblocking(c, MPI_Issend); }));
  all.push_back(ping_pong_entry("ping-pong-ibsend", {"MPI_Ibsend"}, "3.7",
                                "Ibsend, Wait, Irecv, Wait; the other receives first", [](Case& c) {
                                  attach_send_buffer(c);
                                  return nonblocking(c, MPI_Ibsend);
                                }));
  all.push_back(ping_pong_entry(
      "ping-pong-irsend", {"MPI_Irsend"}, "3.7",
      "Irecv, Irsend, Wait, Wait; the other Wait, Irecv, Irsend, Wait", [](Case& c) {
        MPI_Request* const request = c.requests(1);
        return ready(c, [&c, request](char* out) {
          must(MPI_Irsend(out, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, request));
          must(MPI_Wait(request, MPI_STATUS_IGNORE));
        });
      }));
  return all;
}

std::vector<Measurement> persistent_ping_pongs() {
  const char* const timed =
      "Start, Wait of the send, Start, Wait of the receive; the other receives first";
  std::vector<Measurement> all;
  all.push_back(ping_pong_entry(
      "ping-pong-persistent", {"MPI_Send_init", "MPI_Recv_init", "MPI_Start"}, "3.9", timed,
      [](Case& c) { return persistent(c, "MPI_Send_init", MPI_Send_init); }));
  all.push_back(
      ping_pong_entry("ping-pong-persistent-ssend", {"MPI_Ssend_init"}, "3.9", timed,
                      [](Case& c) { return persistent(c, "MPI_Ssend_init", MPI_Ssend_init); }));
  all.push_back(
      ping_pong_entry("ping-pong-persistent-bsend", {"MPI_Bsend_init"}, "3.9", timed, [](Case& c) {
        attach_send_buffer(c);
        return persistent(c, "MPI_Bsend_init", MPI_Bsend_init);
      }));
  all.push_back(ping_pong_entry(
      "ping-pong-persistent-rsend", {"MPI_Rsend_init"}, "3.9",
      "Irecv, Start of the send, Wait, Wait; the other Wait, Irecv, Start, Wait", [](Case& c) {
        MPI_Request* const request = c.requests(1);
        char* const out = c.memory(c.bytes);
        c.persistent("MPI_Rsend_init", request, [&](MPI_Request* made) {
          return MPI_Rsend_init(out, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, made);
        });
        return ready(c, [request](char*) {
          must(MPI_Start(request));
          must(MPI_Wait(request, MPI_STATUS_IGNORE));
        });
      }));
  return all;
}

// Who looks before it receives: `look` leaves the message received.
template <class Look>
Body probing(Case& c, Look look) {
  return ping_pong(c, sender(c), look);
}

std::vector<Measurement> probes() {
  std::vector<Measurement> all;
  all.push_back(ping_pong_entry("ping-pong-probe", {"MPI_Probe"}, "3.8",
                                "Send, Probe, Recv; the other Probe, Recv, Send", [](Case& c) {
                                  return probing(c, [&c, receive = receiver(c)](char* in) {
                                    must(MPI_Probe(c.peer(), kTag, c.comm, MPI_STATUS_IGNORE));
                                    receive(in);
                                  });
                                }));
  all.push_back(ping_pong_entry(
      "ping-pong-iprobe", {"MPI_Iprobe"}, "3.8",
      "Send, Iprobe until it is there, Recv; the other Iprobe, Recv, Send", [](Case& c) {
        return probing(c, [&c, receive = receiver(c)](char* in) {
          int there = 0;
          while (there == 0) must(MPI_Iprobe(c.peer(), kTag, c.comm, &there, MPI_STATUS_IGNORE));
          receive(in);
        });
      }));
  all.push_back(
      ping_pong_entry("ping-pong-mprobe", {"MPI_Mprobe", "MPI_Mrecv"}, "3.8",
                      "Send, Mprobe, Mrecv; the other Mprobe, Mrecv, Send", [](Case& c) {
                        return probing(c, [&c](char* in) {
                          MPI_Message message = MPI_MESSAGE_NULL;
                          must(MPI_Mprobe(c.peer(), kTag, c.comm, &message, MPI_STATUS_IGNORE));
                          must(MPI_Mrecv(in, c.count(), MPI_BYTE, &message, MPI_STATUS_IGNORE));
                        });
                      }));
  all.push_back(ping_pong_entry(
      "ping-pong-improbe", {"MPI_Improbe", "MPI_Imrecv"}, "3.8",
      "Send, Improbe until it is there, Imrecv, Wait; the other receives first", [](Case& c) {
        MPI_Request* const request = c.requests(1);
        return probing(c, [&c, request](char* in) {
          MPI_Message message = MPI_MESSAGE_NULL;
          int there = 0;
          while (there == 0)
            must(MPI_Improbe(c.peer(), kTag, c.comm, &there, &message, MPI_STATUS_IGNORE));
          must(MPI_Imrecv(in, c.count(), MPI_BYTE, &message, request));
          must(MPI_Wait(request, MPI_STATUS_IGNORE));
        });
      }));
  all.push_back(ping_pong_entry("ping-pong-any", {"MPI_Recv"}, "3.2.4",
                                "Send, Recv of any source and tag; the other Recv, Send",
                                [](Case& c) {
                                  return probing(c, [&c](char* in) {
                                    must(MPI_Recv(in, c.count(), MPI_BYTE, MPI_ANY_SOURCE,
                                                  MPI_ANY_TAG, c.comm, MPI_STATUS_IGNORE));
                                  });
                                }));
  return all;
}

// Both ranks do the same at once.
Measurement both_ways(std::string name, std::vector<std::string> functions, std::string section,
                      std::string timed, std::function<Body(Case&)> make) {
  Measurement entry = ping_pong_entry(std::move(name), std::move(functions), std::move(section),
                                      std::move(timed), std::move(make));
  entry.sample = "one message each way at once, on the first rank";
  entry.parts = 1;
  return entry;
}

std::vector<Measurement> two_ways() {
  std::vector<Measurement> all;
  all.push_back(both_ways("sendrecv", {"MPI_Sendrecv"}, "3.11", "Sendrecv on both", [](Case& c) {
    char* const out = c.memory(c.bytes);
    char* const in = c.memory(c.bytes);
    return Body{.call = [=, &c] {
      must(MPI_Sendrecv(out, c.count(), MPI_BYTE, c.peer(), kTag, in, c.count(), MPI_BYTE, c.peer(),
                        kTag, c.comm, MPI_STATUS_IGNORE));
    }};
  }));
  all.push_back(both_ways("sendrecv-replace", {"MPI_Sendrecv_replace"}, "3.11",
                          "Sendrecv_replace on both", [](Case& c) {
                            char* const memory = c.memory(c.bytes);
                            return Body{.call = [=, &c] {
                              must(MPI_Sendrecv_replace(memory, c.count(), MPI_BYTE, c.peer(), kTag,
                                                        c.peer(), kTag, c.comm, MPI_STATUS_IGNORE));
                            }};
                          }));
  all.push_back(
      both_ways("bidirectional", {"MPI_Isend", "MPI_Irecv", "MPI_Waitall"}, "3.7",
                "Irecv, Isend, Waitall on both", [](Case& c) {
                  char* const out = c.memory(c.bytes);
                  char* const in = c.memory(c.bytes);
                  MPI_Request* const requests = c.requests(2);
                  return Body{.call = [=, &c] {
                    must(MPI_Irecv(in, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, &requests[0]));
                    must(MPI_Isend(out, c.count(), MPI_BYTE, c.peer(), kTag, c.comm, &requests[1]));
                    must(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
                  }};
                }));
#if MPI_VERSION >= 4
  all.push_back(
      both_ways("isendrecv", {"MPI_Isendrecv"}, "3.11", "Isendrecv, Wait on both", [](Case& c) {
        char* const out = c.memory(c.bytes);
        char* const in = c.memory(c.bytes);
        MPI_Request* const request = c.requests(1);
        return Body{.call = [=, &c] {
          must(MPI_Isendrecv(out, c.count(), MPI_BYTE, c.peer(), kTag, in, c.count(), MPI_BYTE,
                             c.peer(), kTag, c.comm, request));
          must(MPI_Wait(request, MPI_STATUS_IGNORE));
        }};
      }));
  all.push_back(both_ways("isendrecv-replace", {"MPI_Isendrecv_replace"}, "3.11",
                          "Isendrecv_replace, Wait on both", [](Case& c) {
                            char* const memory = c.memory(c.bytes);
                            MPI_Request* const request = c.requests(1);
                            return Body{.call = [=, &c] {
                              must(MPI_Isendrecv_replace(memory, c.count(), MPI_BYTE, c.peer(),
                                                         kTag, c.peer(), kTag, c.comm, request));
                              must(MPI_Wait(request, MPI_STATUS_IGNORE));
                            }};
                          }));
#endif
  return all;
}

// A window of messages one way, then an empty one back. `peer` and `sends` of this rank.
Body stream(Case& c, int peer, bool sends) {
  char* const memory = c.memory(kWindow * c.bytes);
  MPI_Request* const requests = c.requests(kWindow);
  char* const note = c.memory(1);
  return {.call = [=, &c] {
    for (int i = 0; i < kWindow; ++i) {
      char* const at = memory + i * c.bytes;
      must(sends ? MPI_Isend(at, c.count(), MPI_BYTE, peer, kTag, c.comm, &requests[i])
                 : MPI_Irecv(at, c.count(), MPI_BYTE, peer, kTag, c.comm, &requests[i]));
    }
    must(MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE));
    if (sends)
      must(MPI_Recv(note, 0, MPI_BYTE, peer, kTag, c.comm, MPI_STATUS_IGNORE));
    else
      must(MPI_Send(note, 0, MPI_BYTE, peer, kTag, c.comm));
  }};
}

std::vector<Measurement> streams() {
  std::vector<Measurement> all;
  Measurement one = ping_pong_entry(
      "stream", {"MPI_Isend", "MPI_Irecv", "MPI_Waitall"}, "3.7",
      "64 Isend, Waitall, Recv of 0 bytes; the other 64 Irecv, Waitall, Send of 0 bytes",
      [](Case& c) { return stream(c, c.peer(), c.rank == 0); });
  one.sample = "64 messages one way and an empty one back, on the rank that sends";
  one.buffers = "one for each of the 64 messages";
  one.sizes = {4, 256 << 10};
  one.parts = kWindow;
  Measurement many = one;
  many.name = "stream-pairs";
  many.sample = "the same of all pairs at once, on the slowest rank";
  many.who = Who::all;
  many.over = Over::slowest;
  many.least_ranks = 2;
  many.even = true;
  many.make = [](Case& c) {
    const int half = c.ranks / 2;
    const bool sends = c.rank < half;
    return stream(c, sends ? c.rank + half : c.rank - half, sends);
  };
  all.push_back(std::move(one));
  all.push_back(std::move(many));
  return all;
}

#if MPI_VERSION >= 4
constexpr int kPartitions = 8;

Measurement partitioned() {
  Measurement entry = ping_pong_entry(
      "partitioned",
      {"MPI_Psend_init", "MPI_Precv_init", "MPI_Pready", "MPI_Pready_range", "MPI_Pready_list",
       "MPI_Parrived", "MPI_Start"},
      "4.2", "Start, 8 Pready, Wait; the other Start, Parrived until all are there, Wait",
      [](Case& c) {
        const int each = std::max(c.count() / kPartitions, 1);
        char* const memory = c.memory(kPartitions * int64_t(each));
        MPI_Request* const request = c.requests(1);
        if (c.rank == 0)
          c.persistent("MPI_Psend_init", request, [&](MPI_Request* made) {
            return MPI_Psend_init(memory, kPartitions, each, MPI_BYTE, 1, kTag, c.comm,
                                  MPI_INFO_NULL, made);
          });
        else
          c.persistent("MPI_Precv_init", request, [&](MPI_Request* made) {
            return MPI_Precv_init(memory, kPartitions, each, MPI_BYTE, 0, kTag, c.comm,
                                  MPI_INFO_NULL, made);
          });
        Body body;
        body.call = [=, &c] {
          must(MPI_Start(request));
          // Two one by one, four as a range and two as a list: each way to say it.
          int listed[] = {6, 7};
          if (c.rank == 0) {
            must(MPI_Pready(0, *request));
            must(MPI_Pready(1, *request));
            must(MPI_Pready_range(2, 5, *request));
            must(MPI_Pready_list(2, listed, *request));
          }
          for (int i = 0; c.rank != 0 && i < kPartitions; ++i)
            for (int there = 0; there == 0;) must(MPI_Parrived(*request, i, &there));
          must(MPI_Wait(request, MPI_STATUS_IGNORE));
        };
        return body;
      });
  entry.timed =
      "Start, 2 Pready, Pready_range of 4, Pready_list of 2, Wait; the other Start, Parrived until "
      "all 8 are there, Wait";
  entry.sample = "one message of 8 partitions, on the slower rank";
  entry.sizes = {64, 4 << 20};
  entry.start = Start::barrier;
  entry.over = Over::slowest;
  entry.parts = 1;
  return entry;
}
#endif

}  // namespace

std::vector<Measurement> point_to_point() {
  std::vector<Measurement> all = ping_pongs();
  for (auto* const part : {persistent_ping_pongs, probes, two_ways, streams})
    for (Measurement& each : part()) all.push_back(std::move(each));
#if MPI_VERSION >= 4
  all.push_back(partitioned());
#endif
  return all;
}

}  // namespace haichi::measure
