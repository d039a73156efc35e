// What a message from rank to rank inside a node costs by a curve, beside the ranks' own work.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <algorithm>

#include "machine/curve.h"

namespace haichi::machine {

/// Seconds.
struct LocalMessage {
  double latency;  ///< first byte
  double copies;   ///< of the sender and the receiver together
};

/// The curve's time is that of a ping-pong's one way. What is left of it when the ranks' own `work`
/// is taken off goes to the copies as far as it grows with the bytes, and else to the latency.
/// Never below 0.
inline LocalMessage local_message(const Curve& curve, double bytes, double work) {
  const Piece piece = curve.piece_for(bytes);
  const double all = std::max(0.0, piece.seconds(bytes) - work);
  const double copies = std::clamp(piece.per_byte * bytes, 0.0, all);
  return {all - copies, copies};
}

}  // namespace haichi::machine
