// What a server does with one request: from the body of a frame to the body of its answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gasfs/server/counters.h"
#include "gasfs/store/store.h"
#include "gasfs/wire/stream.h"

namespace haichi::gasfs {

/// Thread-safe.
class Service {
 public:
  Service(Store& store, uint64_t boot) : store_(store), boot_(boot) {}

  /// The answer (Kind::reply) to a request of a session that has proved itself. EPROTO for what is
  /// no sound request, upon which the connection is of no more use.
  Result<std::vector<std::byte>> answer(uint64_t session, const Frame& frame);
  Counters& counters() { return counters_; }

 private:
  Result<std::vector<std::byte>> write(std::span<const std::byte> body);
  Result<std::vector<std::byte>> read(std::span<const std::byte> body);
  Result<std::vector<std::byte>> object(Kind kind, std::span<const std::byte> body);
  Result<std::vector<std::byte>> names(uint64_t session, std::span<const std::byte> body);
  std::string status();

  Store& store_;
  const uint64_t boot_;
  Counters counters_;
};

}  // namespace haichi::gasfs
