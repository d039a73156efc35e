// Arrange: what the processes of a node wrote to a file, by offset and in as few requests as it
// takes. The same function is run by the dispatcher, by the tests and by what counts requests.
//
// PURE: no clock, no file, no environment.
// Paper 002, sections 2.2 and 3.1: sort by offset, merge what follows on each other, split what
// crosses a block. New here: overlapping requests, of which the one that arrived last decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gasfs/plan/layout.h"

namespace haichi::gasfs {

/// One write of a program. Where it stands in a list is its order of arrival.
struct Request {
  uint64_t offset = 0;
  uint64_t length = 0;  // bytes; offset + length does not overflow
  uint64_t source = 0;  // where its bytes begin in the memory that gathers them
};

/// Bytes that lie side by side in that memory.
struct Piece {
  uint64_t source = 0;
  uint64_t length = 0;
};

/// What a server is asked to write in one go: within one stripe.
struct Run {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint32_t server = 0;
  uint32_t pieces = 0;     // how many pieces make it up
  size_t first_piece = 0;  // and where they begin
};

struct Arranged {
  std::vector<Run> runs;
  std::vector<Piece> pieces;
};

/// The runs of `requests` by ascending offset, each byte once, from the last request that wrote it.
/// Runs of one stripe never touch. n log n in the number of requests.
Arranged arrange(std::span<const Request> requests, const Layout& layout);

/// What it would be without arranging: each request by itself in the order of arrival, only cut at
/// the edges of stripes (table 3, "NotArranged").
Arranged cut_only(std::span<const Request> requests, const Layout& layout);

/// Bytes of a request that a read covers.
struct Patch {
  uint64_t at = 0;  // from the beginning of what is read
  uint64_t source = 0;
  uint64_t length = 0;
};

/// What a read of [offset, offset + length) sees of `requests`: put over what the servers have, in
/// this order, the last to arrive on top.
std::vector<Patch> overlay(std::span<const Request> requests, uint64_t offset, uint64_t length);

}  // namespace haichi::gasfs
