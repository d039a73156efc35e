#include "gasfs/wire/hold_messages.h"

#include <cerrno>

#include "gasfs/wire/bytes.h"
#include "gasfs/wire/messages.h"

namespace haichi::gasfs {

std::vector<std::byte> pack_hold(const HoldMessage& message) {
  Packer packer;
  packer.put(message.inode);
  packer.put(static_cast<uint32_t>(message.from.size()));
  for (const Address& address : message.from) {
    packer.put(std::string_view(address.host));
    packer.put(address.port);
  }
  return packer.take();
}

Result<HoldMessage> unpack_hold(std::span<const std::byte> body) {
  Unpacker unpacker(body);
  HoldMessage message{unpacker.take<Inode>(), {}};
  const auto count = unpacker.take<uint32_t>();
  if (count > kMostSources)
    return fail(EPROTO, "{} nodes to fetch from, {} at most", count, kMostSources);
  for (uint32_t i = 0; i < count && unpacker.sound(); ++i) {
    std::string host(unpacker.take_text());
    message.from.push_back({std::move(host), unpacker.take<uint16_t>()});
  }
  if (!unpacker.whole()) return fail(EPROTO, "a file to hold that is not described whole");
  return message;
}

std::vector<std::byte> pack_held(const HeldMessage& message) {
  Packer packer;
  packer.put(static_cast<uint8_t>(message.state));
  packer.put(message.bytes);
  packer.put(message.size);
  packer.put(message.by_node);
  packer.put(std::string_view(message.trouble));
  return packer.take();
}

Result<HeldMessage> unpack_held(std::span<const std::byte> body) {
  Unpacker unpacker(body);
  HeldMessage message;
  const auto state = unpacker.take<uint8_t>();
  message.state = static_cast<HeldMessage::State>(state);
  unpacker.take(message.bytes);
  unpacker.take(message.size);
  unpacker.take(message.by_node);
  message.trouble = unpacker.take_text();
  if (!unpacker.whole() || state > static_cast<uint8_t>(HeldMessage::State::failed))
    return fail(EPROTO, "what is held is not described whole");
  return message;
}

std::vector<std::byte> pack_pull(const PullMessage& message) {
  Packer packer;
  packer.put(message.inode);
  put_time(packer, message.changed);
  packer.put(message.stale);
  packer.put(message.offset);
  packer.put(message.length);
  return packer.take();
}

Result<PullMessage> unpack_pull(std::span<const std::byte> body) {
  Unpacker unpacker(body);
  PullMessage message;
  unpacker.take(message.inode);
  message.changed = take_time(unpacker);
  unpacker.take(message.stale);
  unpacker.take(message.offset);
  unpacker.take(message.length);
  if (!unpacker.whole()) return fail(EPROTO, "bytes to pull that are not described whole");
  if (message.length == 0 || message.length > kMostPulled ||
      message.offset > kMostOffset - message.length)
    return fail(EPROTO, "{} bytes to pull, {} at most", message.length, kMostPulled);
  return message;
}

}  // namespace haichi::gasfs
