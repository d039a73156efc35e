// Completing requests: what Wait, Test and their kin cost by themselves, on requests that a rank
// has with itself.
#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

constexpr int kPairs = 16;
constexpr int kRequests = 2 * kPairs;
constexpr int kTag = 2;

// 16 messages of a byte from each rank to itself are under way when `complete` is timed.
Measurement entry(std::string name, std::string function, std::string timed,
                  std::function<void(MPI_Request*)> complete) {
  return {.name = std::move(name),
          .group = "completion",
          .functions = {std::move(function)},
          .section = "3.7",
          .timed = std::move(timed),
          .sample = "completing 16 sends and 16 receives of a rank with itself",
          .buffers = "one byte each",
          .make =
              [complete](Case& c) {
                char* const memory = c.memory(kRequests);
                MPI_Request* const requests = c.requests(kRequests);
                return Body{.call = [=] { complete(requests); },
                            .before =
                                [=, &c] {
                                  for (int i = 0; i < kPairs; ++i) {
                                    must(MPI_Irecv(memory + i, 1, MPI_BYTE, c.rank, kTag, c.comm,
                                                   &requests[i]));
                                    must(MPI_Isend(memory + kPairs + i, 1, MPI_BYTE, c.rank, kTag,
                                                   c.comm, &requests[kPairs + i]));
                                  }
                                }};
              },
          .start = Start::back_to_back,
          .parts = kRequests};
}

// Calls `step`, which says how many requests it completed, until all are.
template <class Step>
std::function<void(MPI_Request*)> until_all(Step step) {
  return [step](MPI_Request* requests) {
    for (int done = 0; done < kRequests;) done += step(requests);
  };
}

std::vector<Measurement> waits_and_tests() {
  std::vector<Measurement> all;
  all.push_back(entry("complete-wait", "MPI_Wait", "Wait for each of 32", [](MPI_Request* r) {
    for (int i = 0; i < kRequests; ++i) must(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
  }));
  all.push_back(entry("complete-waitall", "MPI_Waitall", "Waitall of 32", [](MPI_Request* r) {
    must(MPI_Waitall(kRequests, r, MPI_STATUSES_IGNORE));
  }));
  all.push_back(entry("complete-waitany", "MPI_Waitany", "Waitany of 32, 32 times",
                      until_all([](MPI_Request* r) {
                        int index = 0;
                        must(MPI_Waitany(kRequests, r, &index, MPI_STATUS_IGNORE));
                        return 1;
                      })));
  all.push_back(entry("complete-waitsome", "MPI_Waitsome", "Waitsome of 32 until none is left",
                      until_all([](MPI_Request* r) {
                        int count = 0, indices[kRequests];
                        must(MPI_Waitsome(kRequests, r, &count, indices, MPI_STATUSES_IGNORE));
                        return count;
                      })));
  all.push_back(
      entry("complete-test", "MPI_Test", "Test of each of 32 until it is done", [](MPI_Request* r) {
        for (int i = 0; i < kRequests; ++i)
          for (int done = 0; done == 0;) must(MPI_Test(&r[i], &done, MPI_STATUS_IGNORE));
      }));
  all.push_back(entry("complete-testall", "MPI_Testall", "Testall of 32 until all are done",
                      [](MPI_Request* r) {
                        for (int done = 0; done == 0;)
                          must(MPI_Testall(kRequests, r, &done, MPI_STATUSES_IGNORE));
                      }));
  all.push_back(entry("complete-testany", "MPI_Testany", "Testany of 32 until none is left",
                      until_all([](MPI_Request* r) {
                        int index = 0, done = 0;
                        must(MPI_Testany(kRequests, r, &index, &done, MPI_STATUS_IGNORE));
                        return done != 0 && index != MPI_UNDEFINED ? 1 : 0;
                      })));
  all.push_back(entry("complete-testsome", "MPI_Testsome", "Testsome of 32 until none is left",
                      until_all([](MPI_Request* r) {
                        int count = 0, indices[kRequests];
                        must(MPI_Testsome(kRequests, r, &count, indices, MPI_STATUSES_IGNORE));
                        return count;
                      })));
  return all;
}

// What is done with one request or message that is there already.
Measurement single(std::string name, std::vector<std::string> functions, std::string section,
                   std::string timed, std::function<Body(Case&)> make) {
  return {.name = std::move(name),
          .group = "completion",
          .functions = std::move(functions),
          .section = std::move(section),
          .timed = std::move(timed),
          .sample = "the call on each rank by itself",
          .buffers = "one byte",
          .make = std::move(make),
          .start = Start::back_to_back};
}

std::vector<Measurement> single_calls() {
  std::vector<Measurement> all;
  all.push_back(single("request-get-status", {"MPI_Request_get_status"}, "3.7.6",
                       "Request_get_status of a receive that nothing was sent to", [](Case& c) {
                         MPI_Request* const request = c.requests(1);
                         c.withdraw_at_end(request, 1);
                         c.alone("MPI_Irecv", [&] {
                           must(MPI_Irecv(c.memory(1), 1, MPI_BYTE, c.rank, kTag, c.comm, request));
                         });
                         return Body{.call = [=] {
                           int done = 0;
                           must(MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE));
                         }};
                       }));
  all.push_back(single("cancel", {"MPI_Cancel", "MPI_Test_cancelled"}, "3.8.4",
                       "Irecv, Cancel, Wait, Test_cancelled", [](Case& c) {
                         char* const memory = c.memory(1);
                         return Body{.call = [=, &c] {
                           MPI_Request request = MPI_REQUEST_NULL;
                           MPI_Status status;
                           int cancelled = 0;
                           must(MPI_Irecv(memory, 1, MPI_BYTE, c.rank, kTag, c.comm, &request));
                           must(MPI_Cancel(&request));
                           must(MPI_Wait(&request, &status));
                           must(MPI_Test_cancelled(&status, &cancelled));
                         }};
                       }));
  all.push_back(single("request-persistent-free", {"MPI_Send_init", "MPI_Request_free"}, "3.9",
                       "Send_init, Request_free", [](Case& c) {
                         char* const memory = c.memory(1);
                         return Body{.call = [=, &c] {
                           MPI_Request request = MPI_REQUEST_NULL;
                           must(MPI_Send_init(memory, 1, MPI_BYTE, c.rank, kTag, c.comm, &request));
                           must(MPI_Request_free(&request));
                         }};
                       }));
  all.push_back(
      single("startall", {"MPI_Startall"}, "3.9",
             "Startall of a send and a receive with itself, Waitall", [](Case& c) {
               MPI_Request* const requests = c.requests(2);
               c.persistent("MPI_Recv_init", &requests[0], [&](MPI_Request* made) {
                 return MPI_Recv_init(c.memory(1), 1, MPI_BYTE, c.rank, kTag, c.comm, made);
               });
               c.persistent("MPI_Send_init", &requests[1], [&](MPI_Request* made) {
                 return MPI_Send_init(c.memory(1), 1, MPI_BYTE, c.rank, kTag, c.comm, made);
               });
               return Body{.call = [=] {
                 must(MPI_Startall(2, requests));
                 must(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
               }};
             }));
  all.push_back(single("buffer-attach-detach", {"MPI_Buffer_attach", "MPI_Buffer_detach"}, "3.6",
                       "Buffer_attach of 64 KiB, Buffer_detach", [](Case& c) {
                         constexpr int kBytes = 64 << 10;
                         char* const memory = c.memory(kBytes);
                         return Body{.call = [=] {
                           void* back = nullptr;
                           int size = 0;
                           must(MPI_Buffer_attach(memory, kBytes));
                           must(MPI_Buffer_detach(&back, &size));
                         }};
                       }));
  all.push_back(single("get-count", {"MPI_Get_count", "MPI_Get_elements"}, "3.2.5",
                       "Get_count, Get_elements", [](Case& c) {
                         auto* const status = c.values<MPI_Status>(1);
                         c.alone("MPI_Sendrecv", [&] {
                           must(MPI_Sendrecv(c.memory(1), 1, MPI_BYTE, c.rank, kTag, c.memory(1), 1,
                                             MPI_BYTE, c.rank, kTag, c.comm, status));
                         });
                         return Body{.call = [=] {
                           int count = 0;
                           must(MPI_Get_count(status, MPI_BYTE, &count));
                           must(MPI_Get_elements(status, MPI_BYTE, &count));
                         }};
                       }));
  return all;
}

}  // namespace

std::vector<Measurement> completion() {
  std::vector<Measurement> all = waits_and_tests();
  for (Measurement& each : single_calls()) all.push_back(std::move(each));
  return all;
}

}  // namespace haichi::measure
