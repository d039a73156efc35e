#include "gasfs/wire/messages.h"

#include "gasfs/wire/bytes.h"

namespace haichi::gasfs {
namespace {

void put_extents(Packer& packer, std::span<const Extent> extents) {
  packer.put(static_cast<uint32_t>(extents.size()));
  for (const Extent& extent : extents) {
    packer.put(extent.offset);
    packer.put(extent.length);
  }
}

/// The extents and the sum of their lengths.
Result<uint64_t> take_extents(Unpacker& unpacker, std::vector<Extent>& into) {
  const auto count = unpacker.take<uint32_t>();
  if (count > kMostExtents)
    return fail(EMSGSIZE, "{} extents in a frame, {} at most", count, kMostExtents);
  into.reserve(count);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count && unpacker.sound(); ++i) {
    Extent extent{unpacker.take<uint64_t>(), unpacker.take<uint32_t>()};
    if (extent.offset >= kMostOffset) return fail(EFBIG, "an extent at {}", extent.offset);
    sum += extent.length;
    into.push_back(extent);
  }
  if (sum > kMostPayload)
    return fail(EMSGSIZE, "{} bytes in a frame, {} at most", sum, kMostPayload);
  return sum;
}

tl::unexpected<Error> malformed(const char* what) { return fail(EPROTO, "a malformed {}", what); }

}  // namespace

std::vector<std::byte> pack_write_head(Inode inode, std::span<const Extent> extents) {
  Packer packer;
  packer.put(inode);
  put_extents(packer, extents);
  return packer.take();
}

Result<WriteMessage> unpack_write(std::span<const std::byte> body) {
  Unpacker unpacker(body);
  WriteMessage message;
  unpacker.take(message.inode);
  const auto sum = take_extents(unpacker, message.extents);
  if (!sum) return tl::unexpected(sum.error());
  message.payload = unpacker.take_rest();
  if (!unpacker.whole() || message.payload.size() != *sum) return malformed("write");
  return message;
}

std::vector<std::byte> pack_read(const ReadMessage& message) {
  return pack_write_head(message.inode, message.extents);
}

Result<ReadMessage> unpack_read(std::span<const std::byte> body) {
  Unpacker unpacker(body);
  ReadMessage message;
  unpacker.take(message.inode);
  const auto sum = take_extents(unpacker, message.extents);
  if (!sum) return tl::unexpected(sum.error());
  if (!unpacker.whole()) return malformed("read");
  return message;
}

std::vector<std::byte> pack_object(const ObjectMessage& message) {
  Packer packer;
  packer.put(message.inode);
  packer.put(message.size);
  return packer.take();
}

Result<ObjectMessage> unpack_object(std::span<const std::byte> body) {
  Unpacker unpacker(body);
  ObjectMessage message;
  unpacker.take(message.inode);
  unpacker.take(message.size);
  if (!unpacker.whole()) return malformed("request for an object");
  if (message.size > kMostOffset) return fail(EFBIG, "an object of {} bytes", message.size);
  return message;
}

std::vector<std::byte> pack_reply(int error, std::span<const std::byte> rest) {
  Packer packer;
  packer.put(static_cast<int32_t>(error));
  packer.put_bytes(rest);
  return packer.take();
}

Result<ReplyMessage> unpack_reply(std::span<const std::byte> body) {
  Unpacker unpacker(body);
  ReplyMessage message{unpacker.take<int32_t>(), {}};
  message.rest = unpacker.take_rest();
  if (!unpacker.whole() || message.error < 0 || message.error > 4095) return malformed("reply");
  return message;
}

std::vector<std::byte> pack_space(const Space& space) {
  Packer packer;
  for (const uint64_t number :
       {space.block_size, space.blocks, space.free_blocks, space.files, space.free_files})
    packer.put(number);
  return packer.take();
}

Result<Space> unpack_space(std::span<const std::byte> body) {
  Unpacker unpacker(body);
  Space space;
  for (uint64_t* number :
       {&space.block_size, &space.blocks, &space.free_blocks, &space.files, &space.free_files})
    unpacker.take(*number);
  if (!unpacker.whole() || space.block_size == 0) return malformed("answer about space");
  return space;
}

}  // namespace haichi::gasfs
