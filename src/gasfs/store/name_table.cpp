#include "gasfs/store/name_table.h"

#include <time.h>

#include <cerrno>

#include "gasfs/wire/bytes.h"

namespace haichi::gasfs {
namespace {

constexpr std::string_view kNext = "next number";

std::string text_of(const NameRecord& record) {
  Packer packer;
  packer.put(record.inode);
  packer.put(record.cursor);
  packer.put(record.type);
  return {reinterpret_cast<const char*>(packer.bytes().data()), packer.bytes().size()};
}

}  // namespace

Outcome<NameRecord> name_record_of(std::string_view text) {
  Unpacker unpacker(std::as_bytes(std::span(text)));
  NameRecord record;
  unpacker.take(record.inode);
  unpacker.take(record.cursor);
  unpacker.take(record.type);
  if (!unpacker.whole()) return tl::unexpected(EIO);
  return record;
}

Done check_name(std::string_view name) {
  if (name.size() > kLongestName) return tl::unexpected(ENAMETOOLONG);
  if (name.empty() || name == "." || name == ".." ||
      name.find_first_of(std::string_view("/\0", 2)) != std::string_view::npos)
    return tl::unexpected(EINVAL);
  return {};
}

NameReply reply_of(Inode inode, const Record& record) {
  return {attributes_of(inode, record), layout_of(record)};
}

void set_now(int64_t (&time)[2]) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  time[0] = now.tv_sec;
  time[1] = now.tv_nsec;
}

Outcome<Record> NameTable::file(Inode inode) const {
  const auto text = txn_.get(Table::inodes, key_of(inode));
  if (!text) return tl::unexpected(text.error() == ENOENT ? ESTALE : text.error());
  return record_of(*text);
}

Outcome<Record> NameTable::folder(Inode inode) const {
  auto record = file(inode);
  if (record && !is_folder(*record)) return tl::unexpected(ENOTDIR);
  return record;
}

Done NameTable::put(Inode inode, const Record& record) {
  return txn_.put(Table::inodes, key_of(inode), gasfs::text_of(record));
}

Done NameTable::forget(Inode inode) {
  std::vector<std::string> keys;
  auto looked =
      txn_.each(Table::xattrs, key_of(inode), [&](std::string_view key, std::string_view) {
        if (number_at(key, 0) != inode) return false;
        keys.emplace_back(key);
        return true;
      });
  if (!looked) return looked;
  for (const std::string& key : keys)
    if (auto removed = txn_.remove(Table::xattrs, key); !removed) return removed;
  if (auto removed = txn_.remove(Table::orphans, key_of(inode)); !removed) return removed;
  return txn_.remove(Table::inodes, key_of(inode));
}

Outcome<NameRecord> NameTable::name(Inode folder, std::string_view name) const {
  if (auto sound = check_name(name); !sound) return tl::unexpected(sound.error());
  const auto text = txn_.get(Table::names, key_of(folder, name));
  if (!text) return tl::unexpected(text.error());
  return name_record_of(*text);
}

Done NameTable::add_name(Inode folder, std::string_view name, Inode inode, uint32_t type) {
  const auto cursor = next_number();
  if (!cursor) return tl::unexpected(cursor.error());
  const NameRecord record{inode, *cursor, type};
  if (auto put = txn_.put(Table::names, key_of(folder, name), text_of(record)); !put) return put;
  std::string listed;
  pack_entry({name, inode, type, *cursor}, listed);
  return txn_.put(Table::order, key_of(folder, *cursor), listed);
}

Done NameTable::remove_name(Inode folder, std::string_view name, const NameRecord& record) {
  if (auto gone = txn_.remove(Table::names, key_of(folder, name)); !gone) return gone;
  return txn_.remove(Table::order, key_of(folder, record.cursor));
}

Done NameTable::check_empty(Inode folder) const {
  bool empty = true;
  const auto looked =
      txn_.each(Table::order, key_of(folder), [&](std::string_view key, std::string_view) {
        empty = number_at(key, 0) != folder;
        return false;
      });
  return looked && !empty ? tl::unexpected(ENOTEMPTY) : looked;
}

Outcome<bool> NameTable::is_beneath(Inode inode, Inode above) const {
  while (inode != above && inode != kRoot) {
    const auto record = folder(inode);
    if (!record) return tl::unexpected(record.error());
    inode = record->parent;
  }
  return inode == above;
}

Outcome<uint64_t> NameTable::next_number() {
  const auto text = txn_.get(Table::facts, kNext);
  if (!text && text.error() != ENOENT) return tl::unexpected(text.error());
  // Behind the root and behind the cursors that a face has for itself.
  const uint64_t number = text ? number_at(*text, 0) : std::max<uint64_t>(kRoot, kFirstCursor) + 1;
  if (auto put = txn_.put(Table::facts, kNext, key_of(number + 1)); !put)
    return tl::unexpected(put.error());
  return number;
}

}  // namespace haichi::gasfs
