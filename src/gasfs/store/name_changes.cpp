// What makes, links, renames and removes names.
#include <fcntl.h>
#include <linux/fs.h>

#include <cerrno>

#include "gasfs/store/name_table.h"

namespace haichi::gasfs {
namespace {

/// A folder whose entries change gets new times.
Done touch_folder(NameTable& table, Inode inode, Record& record) {
  set_now(record.modified);
  record.changed[0] = record.modified[0];
  record.changed[1] = record.modified[1];
  return table.put(inode, record);
}

/// Takes one name off a file; where it was the last, and nobody has the file open, all of it.
Done drop_link(ChangeContext& context, Inode inode, NameReply& reply) {
  auto record = context.table.file(inode);
  if (!record) return tl::unexpected(record.error());
  const bool last = is_folder(*record) || record->links <= 1;
  record->links = last ? 0 : record->links - 1;
  set_now(record->changed);
  if (last && !context.is_open(inode)) {
    reply.gone = !is_folder(*record);
    reply.gone_inode = inode;
    return context.table.forget(inode);
  }
  if (last)
    if (auto put = context.txn.put(Table::orphans, key_of(inode), ""); !put) return put;
  return context.table.put(inode, *record);
}

/// Changes how many folders a folder has in it.
Done count_folder(NameTable& table, Inode parent, int more) {
  auto record = table.folder(parent);
  if (!record) return tl::unexpected(record.error());
  record->links += static_cast<uint32_t>(more);
  return touch_folder(table, parent, *record);
}

Outcome<Record> new_record(ChangeContext& context, const NameRequest& request, const Record& parent,
                           Inode inode) {
  Record made;
  made.mode = request.file.mode;
  made.uid = request.file.uid;
  made.gid = request.file.gid;
  made.device = request.file.device;
  made.links = is_folder(made) ? 2 : 1;
  made.parent = is_folder(made) ? request.inode : 0;
  if (parent.mode & S_ISGID) {  // inherited, as on other file systems
    made.gid = parent.gid;
    if (is_folder(made)) made.mode |= S_ISGID;
  }
  made.stripe = parent.stripe ? parent.stripe : context.stripe;
  if (is_folder(made)) made.stripe = parent.stripe;
  made.copies = parent.copies;
  made.servers = context.servers;
  made.first = static_cast<uint32_t>(inode % context.servers);
  made.size = S_ISLNK(made.mode) ? request.text.size() : 0;
  set_now(made.modified);
  for (int i : {0, 1}) made.accessed[i] = made.changed[i] = made.modified[i];
  return made;
}

/// Whether `from` may take the place of `to`, which is there.
Done may_replace(ChangeContext& context, const Record& from, Inode to, const Record& there) {
  if (is_folder(from) && !is_folder(there)) return tl::unexpected(ENOTDIR);
  if (!is_folder(from) && is_folder(there)) return tl::unexpected(EISDIR);
  return is_folder(there) ? context.table.check_empty(to) : Done{};
}

/// Puts `record` into `folder` under a name that is free.
Done place(ChangeContext& context, Inode folder, std::string_view name, Inode inode,
           Record record) {
  NameTable& table = context.table;
  if (auto added = table.add_name(folder, name, inode, record.mode & S_IFMT); !added) return added;
  if (is_folder(record)) record.parent = folder;
  set_now(record.changed);
  if (auto put = table.put(inode, record); !put) return put;
  return count_folder(table, folder, is_folder(record) ? 1 : 0);
}

Done take_out(ChangeContext& context, Inode folder, std::string_view name,
              const NameRecord& entry) {
  if (auto gone = context.table.remove_name(folder, name, entry); !gone) return gone;
  return count_folder(context.table, folder, S_ISDIR(entry.type) ? -1 : 0);
}

}  // namespace

Outcome<NameReply> make_file(ChangeContext& context, const NameRequest& request) {
  NameTable& table = context.table;
  const auto parent = table.folder(request.inode);
  if (!parent) return tl::unexpected(parent.error());
  if (parent->links == 0) return tl::unexpected(ENOENT);  // a removed folder that is still open
  if (const auto there = table.name(request.inode, request.name); there)
    return tl::unexpected(EEXIST);
  else if (there.error() != ENOENT)
    return tl::unexpected(there.error());
  const auto inode = table.next_number();
  if (!inode) return tl::unexpected(inode.error());
  const auto record = new_record(context, request, *parent, *inode);
  if (auto placed = place(context, request.inode, request.name, *inode, *record); !placed)
    return tl::unexpected(placed.error());
  if (S_ISLNK(record->mode))
    if (auto put = context.txn.put(Table::xattrs, key_of(*inode, std::string_view()), request.text);
        !put)
      return tl::unexpected(put.error());
  return reply_of(*inode, *table.file(*inode));
}

Outcome<NameReply> link_file(ChangeContext& context, const NameRequest& request) {
  NameTable& table = context.table;
  const auto folder = table.folder(request.inode);
  if (!folder) return tl::unexpected(folder.error());
  if (folder->links == 0) return tl::unexpected(ENOENT);
  auto record = table.file(request.other);
  if (!record) return tl::unexpected(record.error());
  if (is_folder(*record)) return tl::unexpected(EPERM);
  if (const auto there = table.name(request.inode, request.name); there)
    return tl::unexpected(EEXIST);
  else if (there.error() != ENOENT)
    return tl::unexpected(there.error());
  if (record->links == 0) return tl::unexpected(ENOENT);
  ++record->links;
  if (auto placed = place(context, request.inode, request.name, request.other, *record); !placed)
    return tl::unexpected(placed.error());
  return reply_of(request.other, *table.file(request.other));
}

Outcome<NameReply> remove_file(ChangeContext& context, const NameRequest& request) {
  NameTable& table = context.table;
  if (const auto folder = table.folder(request.inode); !folder)
    return tl::unexpected(folder.error());
  const auto entry = table.name(request.inode, request.name);
  if (!entry) return tl::unexpected(entry.error());
  if (request.op == NameOp::rmdir) {
    if (!S_ISDIR(entry->type)) return tl::unexpected(ENOTDIR);
    if (auto empty = table.check_empty(entry->inode); !empty) return tl::unexpected(empty.error());
  } else if (S_ISDIR(entry->type)) {
    return tl::unexpected(EISDIR);
  }
  NameReply reply;
  if (auto out = take_out(context, request.inode, request.name, *entry); !out)
    return tl::unexpected(out.error());
  if (auto dropped = drop_link(context, entry->inode, reply); !dropped)
    return tl::unexpected(dropped.error());
  return reply;
}

Outcome<NameReply> rename_file(ChangeContext& context, const NameRequest& request) {
  NameTable& table = context.table;
  const bool exchange = request.flags == RENAME_EXCHANGE;
  if (request.flags != 0 && request.flags != RENAME_NOREPLACE && !exchange)
    return tl::unexpected(EINVAL);
  const Inode from = request.inode, to = request.other;
  const std::string &name = request.name, &new_name = request.text;
  for (const Inode inode : {from, to})
    if (const auto folder = table.folder(inode); !folder) return tl::unexpected(folder.error());
  const auto entry = table.name(from, name);
  if (!entry) return tl::unexpected(entry.error());
  const auto there = table.name(to, new_name);
  if (!there && there.error() != ENOENT) return tl::unexpected(there.error());
  if (there && request.flags == RENAME_NOREPLACE) return tl::unexpected(EEXIST);
  if (!there && exchange) return tl::unexpected(ENOENT);
  NameReply reply;
  if (there && there->inode == entry->inode) return reply;

  const auto moved = table.file(entry->inode);
  if (!moved) return tl::unexpected(moved.error());
  if (const auto folder = table.folder(to); folder->links == 0) return tl::unexpected(ENOENT);
  // A folder cannot go into itself, nor, in an exchange, can the other one.
  for (const auto& [inode, type, target] :
       {std::tuple(entry->inode, entry->type, to),
        std::tuple(there ? there->inode : 0, exchange ? there->type : 0u, from)}) {
    if (!S_ISDIR(type)) continue;
    const auto beneath = table.is_beneath(target, inode);
    if (!beneath) return tl::unexpected(beneath.error());
    if (*beneath) return tl::unexpected(EINVAL);
  }
  std::optional<Record> other;
  if (there) {
    const auto found = table.file(there->inode);
    if (!found) return tl::unexpected(found.error());
    other = *found;
    if (!exchange)
      if (auto may = may_replace(context, *moved, there->inode, *other); !may)
        return tl::unexpected(may.error());
    if (auto out = take_out(context, to, new_name, *there); !out)
      return tl::unexpected(out.error());
  }
  if (auto out = take_out(context, from, name, *entry); !out) return tl::unexpected(out.error());
  if (auto placed = place(context, to, new_name, entry->inode, *moved); !placed)
    return tl::unexpected(placed.error());
  Done rest;
  if (exchange) rest = place(context, from, name, there->inode, *other);
  if (there && !exchange) rest = drop_link(context, there->inode, reply);
  if (!rest) return tl::unexpected(rest.error());
  return reply;
}

Outcome<NameReply> close_file(ChangeContext& context, Inode inode) {
  NameReply reply;
  const auto record = context.table.file(inode);
  // It is gone already where this is sent again, and its objects can go once more.
  reply.gone = !record || (record->links == 0 && !context.is_open(inode));
  reply.gone_inode = inode;
  if (!reply.gone || !record) return reply;
  if (auto forgotten = context.table.forget(inode); !forgotten)
    return tl::unexpected(forgotten.error());
  return reply;
}

}  // namespace haichi::gasfs
