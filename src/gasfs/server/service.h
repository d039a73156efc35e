// What a server does with one request: from the body of a frame to the body of its answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gasfs/server/counters.h"
#include "gasfs/server/write_batches.h"
#include "gasfs/store/store.h"
#include "gasfs/wire/stream.h"

namespace haichi::gasfs {

struct ServiceOptions {
  int gather_us = 0;  // so long a write waits for those of other nodes beside it
};

/// Thread-safe.
class Service {
 public:
  Service(Store& store, uint64_t boot, const ServiceOptions& options = {})
      : store_(store), boot_(boot), batches_(store.objects(), options.gather_us) {}

  /// The answer (Kind::reply) to a request of a session that has proved itself. EPROTO for what is
  /// no sound request, upon which the connection is of no more use.
  Result<std::vector<std::byte>> answer(uint64_t session, const Frame& frame);
  Counters& counters() { return counters_; }

 private:
  Result<std::vector<std::byte>> write(uint64_t session, std::span<const std::byte> body);
  Result<std::vector<std::byte>> read(std::span<const std::byte> body);
  Result<std::vector<std::byte>> object(Kind kind, std::span<const std::byte> body);
  Result<std::vector<std::byte>> names(uint64_t session, std::span<const std::byte> body);
  std::string status();

  Store& store_;
  const uint64_t boot_;
  Counters counters_;
  WriteBatches batches_;
};

}  // namespace haichi::gasfs
