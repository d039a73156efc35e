#include "gasfs/server/service.h"

#include <cerrno>
#include <nlohmann/json.hpp>

namespace haichi::gasfs {
namespace {

std::vector<std::byte> reply_of(const Done& done) { return pack_reply(done ? 0 : done.error()); }

}  // namespace

Result<std::vector<std::byte>> Service::answer(uint64_t session, const Frame& frame) {
  ++counters_.frames;
  const auto body = frame.body.span();
  switch (frame.header.kind) {
    case Kind::write:
      return write(session, body);
    case Kind::read:
      return read(body);
    case Kind::cut:
    case Kind::remove:
    case Kind::sync:
      return object(frame.header.kind, body);
    case Kind::names:
      return names(session, body);
    case Kind::space: {
      const auto space = store_.objects().space();
      return space ? pack_reply(0, pack_space(*space)) : pack_reply(space.error());
    }
    case Kind::status: {
      const std::string text = status();
      return pack_reply(0, std::as_bytes(std::span(text)));
    }
    default:
      return fail(EPROTO, "a frame of kind {} out of turn", static_cast<int>(frame.header.kind));
  }
}

Result<std::vector<std::byte>> Service::write(uint64_t session, std::span<const std::byte> body) {
  const auto message = unpack_write(body);
  if (!message) return tl::unexpected(message.error());
  counters_.count_write(message->inode, message->extents);
  const auto done = batches_.write(session, *message);
  if (!done) ++counters_.failed_requests;
  return reply_of(done);
}

Result<std::vector<std::byte>> Service::read(std::span<const std::byte> body) {
  const auto message = unpack_read(body);
  if (!message) return tl::unexpected(message.error());
  size_t size = 0;
  for (const Extent& extent : message->extents) size += extent.length;
  std::vector<std::byte> reply = pack_reply(0);
  const size_t head = reply.size();
  reply.resize(head + size);
  const auto done =
      store_.objects().read(message->inode, message->extents, std::span(reply).subspan(head));
  counters_.read_requests += message->extents.size();
  counters_.read_bytes += size;
  if (!done) ++counters_.failed_requests;
  return done ? reply : reply_of(done);
}

Result<std::vector<std::byte>> Service::object(Kind kind, std::span<const std::byte> body) {
  const auto message = unpack_object(body);
  if (!message) return tl::unexpected(message.error());
  Objects& objects = store_.objects();
  Done done;
  if (kind == Kind::cut) done = objects.cut(message->inode, message->size);
  if (kind == Kind::remove) done = objects.remove(message->inode);
  if (kind == Kind::sync) {
    done = objects.sync(message->inode);
    if (done && store_.names()) done = store_.names()->sync();
  }
  if (!done) ++counters_.failed_requests;
  return reply_of(done);
}

Result<std::vector<std::byte>> Service::names(uint64_t session, std::span<const std::byte> body) {
  const auto request = unpack_name_request(body);
  if (!request) return tl::unexpected(request.error());
  ++counters_.name_requests;
  if (!store_.names()) return pack_reply(ENXIO);  // this server has no names
  const auto reply = store_.names()->carry_out(session, *request);
  return reply ? pack_reply(0, pack_name_reply(*reply)) : pack_reply(reply.error());
}

std::string Service::status() {
  const auto space = store_.objects().space();
  nlohmann::json json{{"schema", "haichi.gasfs-server-status/1"},
                      {"index", store_.index()},
                      {"boot", boot_},
                      {"store", store_.id()},
                      {"frames", counters_.frames.load()},
                      {"write_requests", counters_.write_requests.load()},
                      {"write_seeks", counters_.write_seeks.load()},
                      {"disk_writes", store_.objects().writes()},
                      {"written_together", batches_.together()},
                      {"written_bytes", counters_.written_bytes.load()},
                      {"read_requests", counters_.read_requests.load()},
                      {"read_bytes", counters_.read_bytes.load()},
                      {"name_requests", counters_.name_requests.load()},
                      {"failed_requests", counters_.failed_requests.load()},
                      {"refused_connections", counters_.refused_connections.load()}};
  if (space) {
    json["free_bytes"] = space->free_blocks * space->block_size;
    json["bytes"] = space->blocks * space->block_size;
  }
  if (store_.names())
    if (const auto files = store_.names()->files(); files) json["files"] = *files;
  return json.dump();
}

}  // namespace haichi::gasfs
