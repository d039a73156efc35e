// What the ways to read cost, where no network lies between the ranks and the file.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace haichi::mpiio {

/// One rank's part of a read: what it wants, and what sieving would read for it.
struct ReadSize {
  int64_t bytes = 0;
  int64_t pieces = 0;  ///< contiguous in the file
  int64_t sieved = 0;  ///< sieved_bytes(); 0: not known
};

// Nanoseconds of one processor, of what is in memory already. Only their ratios matter, and these
// hardly differ between machines. Measured as said under "What reading costs" in docs/notes.md.
constexpr double kReadCall = 670;
constexpr double kReadByte = 0.2;
constexpr double kCopyByte = 0.1;
constexpr double kCopyPiece = 8;
constexpr double kExchangeByte = 0.27;  // read into a window in common memory, copied from there
constexpr double kExchange = 250'000;   // meetings

constexpr double cost_of_pieces(const ReadSize& r) {
  return double(r.pieces) * kReadCall + double(r.bytes) * kReadByte;
}
constexpr double cost_of_sieving(const ReadSize& r) {
  if (r.sieved == 0) return std::numeric_limits<double>::infinity();
  return double(r.sieved) * kReadByte + double(r.bytes) * kCopyByte + double(r.pieces) * kCopyPiece;
}
/// With ranks whose bytes all lie in the same windows.
constexpr double cost_of_exchange(const ReadSize& r) {
  return kExchange + double(r.bytes) * kExchangeByte + double(r.pieces) * kCopyPiece;
}

constexpr bool worth_sieving(const ReadSize& r) {
  return r.pieces > 1 && cost_of_sieving(r) < cost_of_pieces(r);
}
constexpr double cost_alone(const ReadSize& r) {
  return std::min(cost_of_pieces(r), cost_of_sieving(r));
}

}  // namespace haichi::mpiio
