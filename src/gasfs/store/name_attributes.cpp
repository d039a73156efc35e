// What changes the attributes of files, their sizes, and what users attach to them.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/number_text.h"
#include "gasfs/store/name_table.h"
#include "gasfs/wire/messages.h"

namespace haichi::gasfs {
namespace {

constexpr size_t kMostXattr = 65536;

void set_time(int64_t (&time)[2], const timespec& wanted) {
  if (wanted.tv_nsec == UTIME_NOW) return set_now(time);
  time[0] = wanted.tv_sec;
  time[1] = wanted.tv_nsec;
}

/// The stripe size that a text asks for: bytes, between bounds, a multiple of the smallest.
Outcome<uint64_t> stripe_of(std::string_view text) {
  const auto stripe = whole_number<uint64_t>(text);
  if (!stripe || *stripe < kLeastStripe || *stripe > kMostStripe || *stripe % kLeastStripe != 0)
    return tl::unexpected(EINVAL);
  return *stripe;
}

/// The number of copies that a text asks for, of `servers` servers.
Outcome<uint32_t> copies_of(std::string_view text, uint32_t servers) {
  const auto copies = whole_number<uint32_t>(text);
  if (!copies || *copies == 0 || *copies > kMostCopies || *copies > servers ||
      (*copies > 1 && servers > kMostServersWithCopies))
    return tl::unexpected(EINVAL);
  return *copies;
}

/// How a file, or a folder's new files, are dealt out over the servers.
Done set_dealing(ChangeContext& context, const NameRequest& request, Record& record) {
  if (!is_folder(record) && !S_ISREG(record.mode)) return tl::unexpected(EPERM);
  if (!is_folder(record) && record.size > 0) return tl::unexpected(ENOTEMPTY);
  // Who has it open deals out what it writes as the file was when it was opened.
  if (!is_folder(record) && context.is_open(request.inode)) return tl::unexpected(EBUSY);
  const bool removed = request.op == NameOp::removexattr;
  if (request.name == kCopiesAttribute) {
    const auto copies = removed ? Outcome<uint32_t>(0) : copies_of(request.text, context.servers);
    if (!copies) return tl::unexpected(copies.error());
    record.copies = *copies;
  } else if (removed) {
    record.stripe = is_folder(record) ? 0 : context.stripe;
  } else {
    const auto stripe = stripe_of(request.text);
    if (!stripe) return tl::unexpected(stripe.error());
    record.stripe = *stripe;
  }
  set_now(record.changed);
  return context.table.put(request.inode, record);
}

/// What the attributes that tell of the dealing out say of a file, "" for nothing; none for others.
std::optional<std::string> dealing_text(std::string_view name, const Record& record) {
  const auto number = [](uint64_t value) { return value ? std::to_string(value) : ""; };
  if (name == kStripeAttribute) return number(record.stripe);
  if (name == kCopiesAttribute) return number(record.copies);
  if (name != kStaleAttribute) return std::nullopt;
  std::string servers;
  for (uint32_t i = 0; i < std::min(record.servers, kMostServersWithCopies); ++i)
    if (record.stale & server_bit(i)) servers += (servers.empty() ? "" : " ") + std::to_string(i);
  return servers;
}

/// Bytes changed when they were written, which may be told a good while later; but no change has
/// the time of one before, by which a node knows whether what it keeps is right.
void set_changed(Record& record) {
  int64_t (&changed)[2] = record.changed;
  const auto& written = record.modified;
  if (std::pair(changed[0], changed[1]) < std::pair(written[0], written[1])) {
    changed[0] = written[0];
    changed[1] = written[1];
  } else if (++changed[1] == 1'000'000'000) {
    ++changed[0];
    changed[1] = 0;
  }
}

}  // namespace

Outcome<NameReply> change_attributes(ChangeContext& context, const NameRequest& request) {
  auto record = context.table.file(request.inode);
  if (!record) return tl::unexpected(record.error());
  const Changes& wanted = request.changes;
  set_now(record->changed);
  if (wanted.mode) record->mode = (record->mode & S_IFMT) | (*wanted.mode & 07777);
  if (wanted.uid) record->uid = *wanted.uid;
  if (wanted.gid) record->gid = *wanted.gid;
  if (wanted.size) {
    if (is_folder(*record)) return tl::unexpected(EISDIR);
    if (!S_ISREG(record->mode)) return tl::unexpected(EINVAL);
    if (*wanted.size > kMostOffset) return tl::unexpected(EFBIG);
    record->size = *wanted.size;
    set_now(record->modified);
  }
  if (wanted.accessed) set_time(record->accessed, *wanted.accessed);
  if (wanted.modified) set_time(record->modified, *wanted.modified);
  if (auto put = context.table.put(request.inode, *record); !put)
    return tl::unexpected(put.error());
  return reply_of(request.inode, *record);
}

Outcome<NameReply> grow_file(ChangeContext& context, const NameRequest& request) {
  auto record = context.table.file(request.inode);
  if (!record) return tl::unexpected(record.error());
  if (request.number > kMostOffset) return tl::unexpected(EFBIG);
  record->size = std::max(record->size, request.number);
  if (const auto& written = request.changes.modified) {
    set_time(record->modified, *written);
    set_changed(*record);
  } else {
    set_now(record->changed);
  }
  if (auto put = context.table.put(request.inode, *record); !put)
    return tl::unexpected(put.error());
  return reply_of(request.inode, *record);
}

Outcome<NameReply> append_to_file(ChangeContext& context, const NameRequest& request) {
  auto record = context.table.file(request.inode);
  if (!record) return tl::unexpected(record.error());
  if (request.number > kMostOffset - record->size) return tl::unexpected(EFBIG);
  const uint64_t begins = record->size;
  record->size += request.number;
  set_now(record->modified);
  set_now(record->changed);
  if (auto put = context.table.put(request.inode, *record); !put)
    return tl::unexpected(put.error());
  NameReply reply = reply_of(request.inode, *record);
  reply.number = begins;
  return reply;
}

Outcome<NameReply> change_xattr(ChangeContext& context, const NameRequest& request) {
  auto record = context.table.file(request.inode);
  if (!record) return tl::unexpected(record.error());
  if (request.name.empty() || request.name.size() > kLongestName) return tl::unexpected(ERANGE);
  NameReply reply = reply_of(request.inode, *record);
  Done changed;
  if (request.name == kStaleAttribute) return tl::unexpected(EPERM);
  if (request.name == kStripeAttribute || request.name == kCopiesAttribute) {
    if (changed = set_dealing(context, request, *record); !changed)
      return tl::unexpected(changed.error());
    return reply;
  }
  const std::string key = key_of(request.inode, request.name);
  const bool there = context.txn.get(Table::xattrs, key).has_value();
  if (request.op == NameOp::removexattr || request.flags == XATTR_REPLACE)
    if (!there) return tl::unexpected(ENODATA);
  if (request.op == NameOp::setxattr && request.flags == XATTR_CREATE && there)
    return tl::unexpected(EEXIST);
  if (request.text.size() > kMostXattr) return tl::unexpected(E2BIG);
  changed = request.op == NameOp::setxattr ? context.txn.put(Table::xattrs, key, request.text)
                                           : context.txn.remove(Table::xattrs, key);
  set_now(record->changed);
  if (changed) changed = context.table.put(request.inode, *record);
  if (!changed) return tl::unexpected(changed.error());
  return reply;
}

Outcome<NameReply> lose_copy(ChangeContext& context, const NameRequest& request) {
  auto record = context.table.file(request.inode);
  if (!record) return tl::unexpected(record.error());
  const Layout layout = layout_of(*record);
  if (request.number >= layout.servers) return tl::unexpected(EINVAL);
  const auto server = static_cast<uint32_t>(request.number);
  if (!can_lose(layout, server)) return tl::unexpected(EIO);
  record->stale |= server_bit(server);
  if (auto put = context.table.put(request.inode, *record); !put)
    return tl::unexpected(put.error());
  return reply_of(request.inode, *record);
}

Outcome<NameReply> look_at_xattrs(Transaction& txn, const NameRequest& request) {
  const auto record = NameTable(txn).file(request.inode);
  if (!record) return tl::unexpected(record.error());
  NameReply reply = reply_of(request.inode, *record);
  if (request.op == NameOp::getxattr)
    if (const auto dealing = dealing_text(request.name, *record); dealing) {
      if (dealing->empty()) return tl::unexpected(ENODATA);
      reply.text = *dealing;
      return reply;
    }
  if (request.op == NameOp::getxattr) {
    if (request.name.empty() || request.name.size() > kLongestName) return tl::unexpected(ERANGE);
    const auto value = txn.get(Table::xattrs, key_of(request.inode, request.name));
    if (!value) return tl::unexpected(value.error() == ENOENT ? ENODATA : value.error());
    reply.text = *value;
    return reply;
  }
  // The target of a symbolic link stands first, under the empty name.
  const auto looked =
      txn.each(Table::xattrs, key_of(request.inode), [&](std::string_view key, std::string_view) {
        if (number_at(key, 0) != request.inode) return false;
        if (key.size() > 8) reply.text.append(key.substr(8)).push_back('\0');
        return true;
      });
  if (!looked) return tl::unexpected(looked.error());
  return reply;
}

}  // namespace haichi::gasfs
