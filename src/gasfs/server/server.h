// One I/O server: takes connections and serves each by a thread that waits, never polls.
//
// Paper 002, section 3.2. A request is carried out once its whole frame is there, and answered when
// the kernel has its bytes.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "gasfs/server/service.h"
#include "gasfs/store/store.h"
#include "gasfs/wire/connections.h"
#include "gasfs/wire/hello.h"
#include "gasfs/wire/sockets.h"

namespace haichi::gasfs {

class Server {
 public:
  /// Listens at `address`, which has the port afterwards.
  static Result<std::unique_ptr<Server>> open(std::unique_ptr<Store> store, const Secret& secret,
                                              Address& address, const ServiceOptions& options = {});
  /// Serves until `stop_fd` can be read. Then each connection ends behind the request that it is
  /// at, and all that the kernel has goes to the disk: its error, if not all could.
  Status run(int stop_fd);
  Service& service() { return service_; }

 private:
  Server(std::unique_ptr<Store> store, const Secret& secret, Descriptor listening,
         const ServiceOptions& options);
  void drop_orphans();

  const std::unique_ptr<Store> store_;
  const ServerIdentity identity_;
  Service service_;
  Connections connections_;
};

}  // namespace haichi::gasfs
