#include "gasfs/wire/stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "base/io_parts.h"

namespace haichi::gasfs {

Result<bool> FrameReader::fill(int fd) {
  for (;;) {
    const bool in_head = have_ < kHeaderBytes;
    const size_t whole = in_head ? kHeaderBytes : kHeaderBytes + frame_.header.length;
    std::byte* at = in_head ? head_.data() + have_ : frame_.body.data() + (have_ - kHeaderBytes);
    if (have_ < whole) {
      const ssize_t got = ::recv(fd, at, whole - have_, 0);
      if (got == 0) return fail(ECONNRESET, "the other side closed the connection");
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
      if (got < 0) return fail(errno, "receiving failed: {}", std::strerror(errno));
      have_ += static_cast<size_t>(got);
      if (have_ < whole) continue;
    }
    if (in_head) {
      const auto header = unpack(head_);
      if (!header) return tl::unexpected(header.error());
      if (header->length > most_)
        return fail(EMSGSIZE, "a frame of {} bytes, {} at most here", header->length, most_);
      frame_ = {*header, Buffer(header->length)};
      if (header->length > 0) continue;
    }
    const Header& header = frame_.header;
    if (checksum_of(header.kind, header.id, frame_.body.span()) != header.checksum)
      return fail(EBADMSG, "a frame whose checksum is wrong");
    return true;
  }
}

Frame FrameReader::take() {
  have_ = 0;
  return std::move(frame_);
}

Status send_frame(int fd, Kind kind, uint64_t id, std::span<const std::byte> body) {
  const Header header{kind, static_cast<uint32_t>(body.size()), id, checksum_of(kind, id, body)};
  auto head = pack(header);
  std::array<iovec, 2> parts{
      {{head.data(), head.size()}, {const_cast<std::byte*>(body.data()), body.size()}}};
  for (std::span<iovec> left = parts; !left.empty();) {
    msghdr message{};
    message.msg_iov = left.data();
    message.msg_iovlen = left.size();
    const ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail(errno, "sending failed: {}", std::strerror(errno));
    left = without_first(left, static_cast<size_t>(sent));
  }
  return {};
}

}  // namespace haichi::gasfs
