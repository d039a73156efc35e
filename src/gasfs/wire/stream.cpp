#include "gasfs/wire/stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

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
  for (size_t left = head.size() + body.size(); left > 0;) {
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail(errno, "sending failed: {}", std::strerror(errno));
    left -= static_cast<size_t>(sent);
    auto gone = static_cast<size_t>(sent);
    for (iovec& part : parts) {
      const size_t taken = std::min(gone, part.iov_len);
      part.iov_base = static_cast<std::byte*>(part.iov_base) + taken;
      part.iov_len -= taken;
      gone -= taken;
    }
  }
  return {};
}

}  // namespace haichi::gasfs
