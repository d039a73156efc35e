#include "gasfs/store/copies.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "gasfs/store/name_table.h"

namespace haichi::gasfs {
namespace {

/// The server that has the other copy of a stripe which begins at `offset`, if `server` has one.
std::optional<uint32_t> other_holder(const Layout& layout, uint32_t server, uint64_t offset) {
  const uint32_t first = server_of(layout, offset), second = copy_of(layout, first, 1);
  if (server == first) return second;
  if (server == second) return first;
  return std::nullopt;
}

/// Copies what a server should have. Stripes of zeros stay holes.
Done copy_stripes(std::span<const std::unique_ptr<Store>> stores, const StaleCopy& copy,
                  const Layout& layout, uint64_t size) {
  std::vector<std::byte> stripe(layout.stripe);
  for (uint64_t at = 0; at < size; at += layout.stripe) {
    const auto from = other_holder(layout, copy.server, at);
    if (!from) continue;
    const auto length = static_cast<uint32_t>(std::min(layout.stripe, size - at));
    const std::span bytes = std::span(stripe).first(length);
    const Extent extent{at, length};
    if (auto read = stores[*from]->objects().read(copy.inode, {&extent, 1}, bytes); !read)
      return read;
    if (std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; })) continue;
    Objects& into = stores[copy.server]->objects();
    if (auto written = into.write(copy.inode, {&extent, 1}, bytes); !written) return written;
  }
  return {};
}

Done mend_object(std::span<const std::unique_ptr<Store>> stores, const StaleCopy& copy) {
  Database& database = stores[0]->names()->database();
  auto txn = database.begin(true);
  if (!txn) return tl::unexpected(txn.error());
  NameTable table(*txn);
  auto record = table.file(copy.inode);
  if (!record) return tl::unexpected(record.error());
  const Layout layout = layout_of(*record);
  if (copy.server >= stores.size() || layout.servers != stores.size())
    return tl::unexpected(EINVAL);
  if (!can_lose(layout, copy.server)) return tl::unexpected(EIO);
  Objects& object = stores[copy.server]->objects();
  Done done = object.cut(copy.inode, 0);
  if (done) done = copy_stripes(stores, copy, layout, record->size);
  if (done) done = object.sync(copy.inode);
  record->stale &= ~server_bit(copy.server);
  if (done) done = table.put(copy.inode, *record);
  if (done) done = txn->commit();
  return done ? database.sync() : done;
}

}  // namespace

Status mend(std::span<const std::unique_ptr<Store>> stores, const StaleCopy& copy) {
  if (const auto done = mend_object(stores, copy); !done)
    return fail(done.error(), "object {} of server {} cannot be written anew: {}", copy.inode,
                copy.server, std::strerror(done.error()));
  return {};
}

}  // namespace haichi::gasfs
