// One I/O server: takes connections and serves each by a thread that waits, never polls.
//
// Paper 002, section 3.2. A request is carried out once its whole frame is there, and answered when
// the kernel has its bytes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/result.h"
#include "gasfs/server/service.h"
#include "gasfs/store/store.h"
#include "gasfs/wire/hello.h"
#include "gasfs/wire/sockets.h"

namespace haichi::gasfs {

class Server {
 public:
  /// Listens at `address`, which has the port afterwards.
  static Result<std::unique_ptr<Server>> open(std::unique_ptr<Store> store, const Secret& secret,
                                              Address& address);
  ~Server() { end_connections(); }

  /// Serves until `stop_fd` can be read. Then each connection ends behind the request that it is
  /// at, and all that the kernel has goes to the disk: its error, if not all could.
  Status run(int stop_fd);
  Service& service() { return service_; }

 private:
  struct Connection {
    Descriptor fd;
    uint64_t number = 0;  // in the order in which they came
    uint64_t session = 0;
    bool known = false;  // has proved that it has the secret
  };

  Server(std::unique_ptr<Store> store, const Secret& secret, Descriptor listening);
  void accept_one();
  void serve(const std::shared_ptr<Connection>& connection);
  Status greet(const std::shared_ptr<Connection>& connection);
  void take_over(const std::shared_ptr<Connection>& connection);
  void answer_all(Connection& connection);
  void end_connections();
  void drop_orphans();

  const std::unique_ptr<Store> store_;
  const Secret secret_;
  const Descriptor listening_;
  const ServerIdentity identity_;
  Service service_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::set<std::shared_ptr<Connection>> connections_;
  uint64_t accepted_ = 0;
};

}  // namespace haichi::gasfs
