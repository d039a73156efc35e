// What is asked of the server of names, and its answer: one form for all requests, so that one
// function packs and one checks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "gasfs/files/node_files.h"
#include "gasfs/plan/layout.h"

namespace haichi::gasfs {

enum class NameOp : uint8_t {
  // What only looks.
  lookup = 1,  // inode, name
  getattr,     // inode
  readlink,    // inode; text is the target
  readdir,     // inode, number is the cursor; text is the entries
  getxattr,    // inode, name; text is the value
  listxattr,   // inode; text has the names, each ended by '\0'
  open,        // inode; counts it as open in this session
  watch,       // text has inodes; number is 1 if no other session changes them for a while
  // What changes something, and is carried out once however often it is sent.
  close,        // inode, number times; `gone` when its objects can be removed
  setattr,      // inode, changes
  grow,         // inode, number is the size that it has at least, changes.modified
  append,       // inode, number of bytes to have behind the end; number is where they begin
  make,         // inode, name, file, text the target of a symbolic link; flags: kOpens
  link,         // other is the file; inode, name where
  unlink,       // inode, name; `gone`
  rmdir,        // inode, name
  rename,       // inode, name to other, text; flags; `gone` for what it replaced
  setxattr,     // inode, name, text, flags
  removexattr,  // inode, name
  lose_copy,    // inode, number is a server whose object is stale from now on
};
inline constexpr NameOp kFirstChange = NameOp::close;
inline constexpr NameOp kLastNameOp = NameOp::lose_copy;
/// Whether others see what it changes: attributes or entries of files.
inline constexpr bool is_seen(NameOp op) {
  return op >= kFirstChange && op != NameOp::close && op != NameOp::lose_copy;
}
/// Flag of NameOp::make: the file is open in this session when it is made.
inline constexpr uint32_t kOpens = 1;

struct NameRequest {
  NameOp op = NameOp::getattr;
  uint64_t sequence = 0;  // of changes of this session; 0 for what only looks
  uint64_t settled = 0;   // all below have been answered
  Inode inode = 0;
  Inode other = 0;
  std::string name;
  std::string text;
  NewFile file;
  Changes changes;
  uint64_t number = 0;
  uint32_t flags = 0;
};

struct NameReply {
  Attributes attributes;
  Layout layout;
  uint64_t number = 0;
  bool gone = false;  // `gone_inode` has no name and is open nowhere: its objects can be removed
  Inode gone_inode = 0;
  std::string text;
};

std::vector<std::byte> pack_name_request(const NameRequest& request);
Result<NameRequest> unpack_name_request(std::span<const std::byte> body);
std::vector<std::byte> pack_name_reply(const NameReply& reply);
Result<NameReply> unpack_name_reply(std::span<const std::byte> body);

/// For so long, from when NameOp::watch is carried out, other sessions' changes wait.
inline constexpr int64_t kWatchNs = 50'000'000;
/// As many inodes in one NameOp::watch at most.
inline constexpr size_t kMostWatched = 16;
std::string pack_inodes(std::span<const Inode> inodes);
/// None of more than kMostWatched, or of what is no list.
std::vector<Inode> unpack_inodes(std::string_view text);

/// Entries of a folder in NameReply::text.
void pack_entry(const Entry& entry, std::string& into);
/// The next one, taken off `text`; false at the end or for what is no entry.
bool unpack_entry(std::string_view& text, Entry& entry);

}  // namespace haichi::gasfs
