// What requests for names do within one transaction.
#pragma once

#include <functional>
#include <string_view>

#include "gasfs/store/database.h"
#include "gasfs/store/record.h"
#include "gasfs/wire/messages.h"
#include "gasfs/wire/name_messages.h"

namespace haichi::gasfs {

/// A name in a folder: whose it is, and its place in the order in which the folder is listed.
struct NameRecord {
  Inode inode = 0;
  uint64_t cursor = 0;
  uint32_t type = 0;  // S_IFMT bits
};

/// EIO for what is no record.
Outcome<NameRecord> name_record_of(std::string_view text);

/// Reading and writing of records; errors are errno values.
class NameTable {
 public:
  explicit NameTable(Transaction& transaction) : txn_(transaction) {}

  /// ESTALE if there is no such file.
  Outcome<Record> file(Inode inode) const;
  /// The same; ENOTDIR unless it is a folder.
  Outcome<Record> folder(Inode inode) const;
  Done put(Inode inode, const Record& record);
  Done forget(Inode inode);

  /// ENOENT; also EINVAL and ENAMETOOLONG for what can be no name.
  Outcome<NameRecord> name(Inode folder, std::string_view name) const;
  Done add_name(Inode folder, std::string_view name, Inode inode, uint32_t type);
  Done remove_name(Inode folder, std::string_view name, const NameRecord& record);
  /// ENOTEMPTY if it has names.
  Done check_empty(Inode folder) const;
  /// Whether `inode` is `above` or beneath it.
  Outcome<bool> is_beneath(Inode inode, Inode above) const;

  /// A number that was never given before: of a file or a cursor.
  Outcome<uint64_t> next_number();

 private:
  Transaction& txn_;
};

/// ENAMETOOLONG, EINVAL.
Done check_name(std::string_view name);

/// What all requests for names answer of a file.
NameReply reply_of(Inode inode, const Record& record);

/// Now, as the kernel's file systems have it.
void set_now(int64_t (&time)[2]);

/// What a change needs beside its transaction.
struct ChangeContext {
  Transaction& txn;
  NameTable& table;
  uint32_t servers;
  uint64_t stripe;
  /// Whether a session has a file open.
  std::function<bool(Inode)> is_open;
};

Outcome<NameReply> change_attributes(ChangeContext& context, const NameRequest& request);
Outcome<NameReply> grow_file(ChangeContext& context, const NameRequest& request);
Outcome<NameReply> append_to_file(ChangeContext& context, const NameRequest& request);
Outcome<NameReply> make_file(ChangeContext& context, const NameRequest& request);
Outcome<NameReply> link_file(ChangeContext& context, const NameRequest& request);
/// unlink and rmdir.
Outcome<NameReply> remove_file(ChangeContext& context, const NameRequest& request);
Outcome<NameReply> rename_file(ChangeContext& context, const NameRequest& request);
/// Marks a server's object as stale; EIO where nobody else has what it has.
Outcome<NameReply> lose_copy(ChangeContext& context, const NameRequest& request);
/// Removes what has no name any more and is not open.
Outcome<NameReply> close_file(ChangeContext& context, Inode inode);
Outcome<NameReply> change_xattr(ChangeContext& context, const NameRequest& request);
Outcome<NameReply> look_at_xattrs(Transaction& txn, const NameRequest& request);

/// The extended attribute that stands for the stripe size: of a file that is empty and that
/// nobody has open, or of a folder for files that will be made in it.
inline constexpr std::string_view kStripeAttribute = "user.haichi.stripe";
/// How many copies of each stripe there are, in the same way.
inline constexpr std::string_view kCopiesAttribute = "user.haichi.copies";
/// The servers whose objects of a file are stale, one behind the other; can only be read.
inline constexpr std::string_view kStaleAttribute = "user.haichi.stale";
inline constexpr uint64_t kLeastStripe = 4096, kMostStripe = kMostPayload;

}  // namespace haichi::gasfs
