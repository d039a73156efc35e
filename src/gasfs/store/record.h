// A file as the store of names keeps it.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "gasfs/files/node_files.h"
#include "gasfs/plan/layout.h"

namespace haichi::gasfs {

struct Record {
  uint32_t mode = 0;
  uint32_t links = 0;
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint64_t device = 0;
  uint64_t size = 0;
  uint64_t parent = 0;  // of a folder: the one in which it is
  uint64_t stripe = 0;  // bytes; of a folder: of files that are made in it
  uint32_t servers = 1;
  uint32_t first = 0;
  int64_t accessed[2] = {};  // seconds, nanoseconds
  int64_t modified[2] = {};
  int64_t changed[2] = {};
  uint32_t copies = 0;  // 0: one; of a folder: of files that are made in it
  uint32_t spare = 0;
  uint64_t stale = 0;  // as in Layout
};
static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) == 120, "is on disks");
/// Of a record from before there were copies.
inline constexpr size_t kShortRecord = 104;

inline bool is_folder(const Record& record) { return S_ISDIR(record.mode); }

inline std::string_view text_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

/// EIO for what is no record.
inline Outcome<Record> record_of(std::string_view text) {
  Record record;
  if (text.size() != sizeof record && text.size() != kShortRecord) return tl::unexpected(EIO);
  std::memcpy(&record, text.data(), text.size());
  return record;
}

inline Attributes attributes_of(Inode inode, const Record& r) {
  Attributes made;
  made.inode = inode;
  made.mode = r.mode;
  made.links = r.links;
  made.uid = r.uid;
  made.gid = r.gid;
  made.device = r.device;
  made.size = r.size;
  made.blocks = (r.size + 511) / 512;
  made.accessed = {r.accessed[0], r.accessed[1]};
  made.modified = {r.modified[0], r.modified[1]};
  made.changed = {r.changed[0], r.changed[1]};
  return made;
}

inline Layout layout_of(const Record& record) {
  const uint32_t copies = record.copies && !is_folder(record) ? record.copies : 1;
  return {record.stripe ? record.stripe : Layout{}.stripe, record.servers, record.first, copies,
          record.stale};
}

}  // namespace haichi::gasfs
