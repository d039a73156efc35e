// What changes the attributes of files, their sizes, and what users attach to them.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cerrno>

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

Done set_stripe(ChangeContext& context, const NameRequest& request, Record& record) {
  if (!is_folder(record) && !S_ISREG(record.mode)) return tl::unexpected(EPERM);
  if (!is_folder(record) && record.size > 0) return tl::unexpected(ENOTEMPTY);
  // Who has it open deals out what it writes as the file was when it was opened.
  if (!is_folder(record) && context.is_open(request.inode)) return tl::unexpected(EBUSY);
  if (request.op == NameOp::removexattr) {
    record.stripe = is_folder(record) ? 0 : context.stripe;
  } else {
    const auto stripe = stripe_of(request.text);
    if (!stripe) return tl::unexpected(stripe.error());
    record.stripe = *stripe;
  }
  set_now(record.changed);
  return context.table.put(request.inode, record);
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
  if (request.changes.modified) set_time(record->modified, *request.changes.modified);
  set_now(record->changed);
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
  if (request.name == kStripeAttribute) {
    if (changed = set_stripe(context, request, *record); !changed)
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

Outcome<NameReply> look_at_xattrs(Transaction& txn, const NameRequest& request) {
  const auto record = NameTable(txn).file(request.inode);
  if (!record) return tl::unexpected(record.error());
  NameReply reply = reply_of(request.inode, *record);
  if (request.op == NameOp::getxattr && request.name == kStripeAttribute) {
    if (record->stripe == 0) return tl::unexpected(ENODATA);
    reply.text = std::to_string(record->stripe);
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
