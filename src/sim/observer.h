// What a simulated run tells whoever wants to see more of it than its end.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>

#include "sim/time.h"

namespace haichi::sim {

/// A message that was received, for whoever wants to see each.
struct MessageRecord {
  int from, to;
  int64_t bytes;
  Time arrived;   ///< its last byte is on the receiver's node
  Time complete;  ///< the receiver has matched it and has its bytes
};

/// An access of the file by a rank, from its step to its last byte.
struct AccessRecord {
  int rank;
  int64_t round;
  bool writes;
  int64_t bytes;
  Time begin, end;
};

/// When a rank exchanged for a round: from its first step to its wait.
struct ExchangeRecord {
  int rank;
  int64_t round;
  Time begin, end;
  int64_t bytes;  ///< sent and copied
};

/// Is told what happens, in the order of events.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void received(const MessageRecord&) {}
  virtual void accessed(const AccessRecord&) {}
  virtual void exchanged(const ExchangeRecord&) {}
  /// Bytes begin to leave `from` for `to`; a copy within the rank or its node counts too.
  virtual void moved(int from, int to, int64_t bytes) { (void)from, (void)to, (void)bytes; }
};

}  // namespace haichi::sim
