// The connections of one who is asked, an I/O server or a node: each is served by a thread that
// waits, never polls.
//
// Paper 002, section 3.2. A request is carried out once its whole frame is there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "gasfs/wire/hello.h"
#include "gasfs/wire/stream.h"

namespace haichi::gasfs {

/// `accept_one` and `end` are for one thread.
class Connections {
 public:
  /// The body of the answer (Kind::reply) to what a session asks that has proved itself; after an
  /// error its connection is of no more use. Called by the threads of several connections.
  using Answer =
      std::function<Result<std::vector<std::byte>>(uint64_t session, const Frame& frame)>;

  /// `refused` counts connections that were not let in.
  Connections(Descriptor listening, const Secret& secret, const ServerIdentity& self, Answer answer,
              std::atomic<uint64_t>& refused);
  ~Connections() { end(); }

  /// Can be read when somebody wants to connect.
  int fd() const { return listening_.get(); }
  void accept_one();
  /// Each connection ends behind the request that it is at.
  void end();

 private:
  struct Connection {
    Descriptor fd;
    uint64_t number = 0;  // in the order in which they came
    uint64_t session = 0;
    bool known = false;  // has proved that it has the secret
  };

  void serve(const std::shared_ptr<Connection>& connection);
  Status greet(const std::shared_ptr<Connection>& connection);
  void take_over(const std::shared_ptr<Connection>& connection);
  void answer_all(Connection& connection);

  const Descriptor listening_;
  const Secret secret_;
  const ServerIdentity self_;
  const Answer answer_;
  std::atomic<uint64_t>& refused_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::set<std::shared_ptr<Connection>> connections_;
  uint64_t accepted_ = 0;
};

}  // namespace haichi::gasfs
