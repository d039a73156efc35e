#include "gasfs/wire/name_messages.h"

#include <cstring>

#include "gasfs/wire/bytes.h"

namespace haichi::gasfs {
namespace {

constexpr size_t kLongestText = size_t{1} << 20;

void put_file(Packer& packer, const NewFile& file) {
  packer.put(uint32_t{file.mode});
  packer.put(uint32_t{file.uid});
  packer.put(uint32_t{file.gid});
  packer.put(file.device);
}

void take_file(Unpacker& unpacker, NewFile& file) {
  file.mode = unpacker.take<uint32_t>();
  file.uid = unpacker.take<uint32_t>();
  file.gid = unpacker.take<uint32_t>();
  unpacker.take(file.device);
}

void put_changes(Packer& packer, const Changes& changes) {
  const auto put = [&](bool there, uint64_t value) {
    packer.put(static_cast<uint8_t>(there));
    if (there) packer.put(value);
  };
  put(changes.mode.has_value(), changes.mode.value_or(0));
  put(changes.uid.has_value(), changes.uid.value_or(0));
  put(changes.gid.has_value(), changes.gid.value_or(0));
  put(changes.size.has_value(), changes.size.value_or(0));
  for (const auto& time : {changes.accessed, changes.modified}) {
    packer.put(static_cast<uint8_t>(time.has_value()));
    if (time) put_time(packer, *time);
  }
}

void take_changes(Unpacker& unpacker, Changes& changes) {
  const auto there = [&] { return unpacker.take<uint8_t>() != 0; };
  const auto number = [&] { return unpacker.take<uint64_t>(); };
  if (there()) changes.mode = static_cast<mode_t>(number());
  if (there()) changes.uid = static_cast<uid_t>(number());
  if (there()) changes.gid = static_cast<gid_t>(number());
  if (there()) changes.size = number();
  if (there()) changes.accessed = take_time(unpacker);
  if (there()) changes.modified = take_time(unpacker);
}

void put_attributes(Packer& packer, const Attributes& a) {
  packer.put(a.inode);
  for (const uint32_t number : {uint32_t{a.mode}, a.links, uint32_t{a.uid}, uint32_t{a.gid}})
    packer.put(number);
  for (const uint64_t number : {a.device, a.size, a.blocks}) packer.put(number);
  for (const timespec& time : {a.accessed, a.modified, a.changed}) put_time(packer, time);
}

bool is_sound(const Layout& layout) {
  const bool one = layout.copies == 1;
  return layout.stripe > 0 && layout.first < layout.servers && layout.copies > 0 &&
         layout.copies <= kMostCopies && layout.copies <= layout.servers &&
         (one || layout.servers <= kMostServersWithCopies);
}

void take_attributes(Unpacker& unpacker, Attributes& a) {
  unpacker.take(a.inode);
  a.mode = unpacker.take<uint32_t>();
  unpacker.take(a.links);
  a.uid = unpacker.take<uint32_t>();
  a.gid = unpacker.take<uint32_t>();
  for (uint64_t* number : {&a.device, &a.size, &a.blocks}) unpacker.take(*number);
  for (timespec* time : {&a.accessed, &a.modified, &a.changed}) *time = take_time(unpacker);
}

}  // namespace

std::vector<std::byte> pack_name_request(const NameRequest& request) {
  Packer packer;
  packer.put(static_cast<uint8_t>(request.op));
  for (const uint64_t number : {request.sequence, request.settled, request.inode, request.other})
    packer.put(number);
  packer.put(request.name);
  packer.put(request.text);
  put_file(packer, request.file);
  put_changes(packer, request.changes);
  packer.put(request.number);
  packer.put(request.flags);
  return packer.take();
}

Result<NameRequest> unpack_name_request(std::span<const std::byte> body) {
  Unpacker unpacker(body);
  NameRequest request;
  const auto op = unpacker.take<uint8_t>();
  request.op = static_cast<NameOp>(op);
  for (uint64_t* number : {&request.sequence, &request.settled, &request.inode, &request.other})
    unpacker.take(*number);
  request.name = unpacker.take_text();
  request.text = unpacker.take_text();
  take_file(unpacker, request.file);
  take_changes(unpacker, request.changes);
  unpacker.take(request.number);
  unpacker.take(request.flags);
  if (!unpacker.whole() || op == 0 || op > static_cast<uint8_t>(kLastNameOp))
    return fail(EPROTO, "a malformed request for names");
  if (request.text.size() > kLongestText) return fail(EMSGSIZE, "a text that is too long");
  if ((request.op >= kFirstChange) != (request.sequence != 0))
    return fail(EPROTO, "a request for names without its number");
  return request;
}

std::vector<std::byte> pack_name_reply(const NameReply& reply) {
  Packer packer;
  put_attributes(packer, reply.attributes);
  packer.put(reply.layout.stripe);
  packer.put(reply.layout.servers);
  packer.put(reply.layout.first);
  packer.put(reply.layout.copies);
  packer.put(reply.layout.stale);
  packer.put(reply.number);
  packer.put(static_cast<uint8_t>(reply.gone));
  packer.put(reply.gone_inode);
  packer.put(reply.text);
  return packer.take();
}

Result<NameReply> unpack_name_reply(std::span<const std::byte> body) {
  Unpacker unpacker(body);
  NameReply reply;
  take_attributes(unpacker, reply.attributes);
  unpacker.take(reply.layout.stripe);
  unpacker.take(reply.layout.servers);
  unpacker.take(reply.layout.first);
  unpacker.take(reply.layout.copies);
  unpacker.take(reply.layout.stale);
  unpacker.take(reply.number);
  reply.gone = unpacker.take<uint8_t>() != 0;
  unpacker.take(reply.gone_inode);
  reply.text = unpacker.take_text();
  if (!unpacker.whole() || !is_sound(reply.layout))
    return fail(EPROTO, "a malformed answer of the server of names");
  return reply;
}

std::string pack_inodes(std::span<const Inode> inodes) {
  return {reinterpret_cast<const char*>(inodes.data()), inodes.size_bytes()};
}

std::vector<Inode> unpack_inodes(std::string_view text) {
  const bool sound =
      text.size() % sizeof(Inode) == 0 && text.size() <= kMostWatched * sizeof(Inode);
  if (!sound || text.empty()) return {};
  std::vector<Inode> inodes(text.size() / sizeof(Inode));
  std::memcpy(inodes.data(), text.data(), text.size());
  return inodes;
}

void pack_entry(const Entry& entry, std::string& into) {
  Packer packer;
  packer.put(entry.inode);
  packer.put(uint32_t{entry.type});
  packer.put(entry.cursor);
  packer.put(entry.name);
  into.append(reinterpret_cast<const char*>(packer.bytes().data()), packer.bytes().size());
}

bool unpack_entry(std::string_view& text, Entry& entry) {
  Unpacker unpacker(std::as_bytes(std::span(text)));
  unpacker.take(entry.inode);
  entry.type = unpacker.take<uint32_t>();
  unpacker.take(entry.cursor);
  entry.name = unpacker.take_text();
  if (!unpacker.sound()) return false;
  text.remove_prefix(text.size() - unpacker.left());
  return true;
}

}  // namespace haichi::gasfs
