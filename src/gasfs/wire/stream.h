// Frames over a connected socket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "gasfs/wire/bytes.h"
#include "gasfs/wire/frame.h"

namespace haichi::gasfs {

struct Frame {
  Header header;
  Buffer body;
};

/// Takes frames off a socket, blocking or not. A frame is given once it is whole and its checksum
/// is right; after an error the connection is of no more use.
class FrameReader {
 public:
  /// Bodies of more than `most` bytes are refused: EMSGSIZE.
  explicit FrameReader(uint32_t most = kMostBody) : most_(most) {}
  /// True: a frame is whole, take it. False: the socket has no more for now (or, where it blocks,
  /// its receive time is over). ECONNRESET where the other side has closed.
  Result<bool> fill(int fd);
  Frame take();
  /// Whether part of a frame has come.
  bool begun() const { return have_ > 0; }

 private:
  uint32_t most_;
  std::array<std::byte, kHeaderBytes> head_{};
  Frame frame_;
  size_t have_ = 0;  // bytes of header and body
};

/// Sends a whole frame on a blocking socket. Never raises SIGPIPE.
Status send_frame(int fd, Kind kind, uint64_t id, std::span<const std::byte> body);

}  // namespace haichi::gasfs
