#include "gasfs/store/names.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "gasfs/store/name_table.h"
#include "gasfs/wire/bytes.h"

namespace haichi::gasfs {
namespace {

/// Entries of one answer, in bytes.
constexpr size_t kMostListed = 16 * 1024;

Outcome<NameReply> look_up(Transaction& txn, const NameRequest& request) {
  const NameTable table(txn);
  if (const auto folder = table.folder(request.inode); !folder)
    return tl::unexpected(folder.error());
  const auto entry = table.name(request.inode, request.name);
  if (!entry) return tl::unexpected(entry.error());
  const auto record = table.file(entry->inode);
  if (!record) return tl::unexpected(record.error());
  return reply_of(entry->inode, *record);
}

Outcome<NameReply> list(Transaction& txn, const NameRequest& request) {
  const NameTable table(txn);
  const auto folder = table.folder(request.inode);
  if (!folder) return tl::unexpected(folder.error());
  NameReply reply = reply_of(request.inode, *folder);
  const auto looked = txn.each(Table::order, key_of(request.inode, request.number + 1),
                               [&](std::string_view key, std::string_view value) {
                                 if (number_at(key, 0) != request.inode) return false;
                                 reply.text += value;
                                 return reply.text.size() < kMostListed;
                               });
  if (!looked) return tl::unexpected(looked.error());
  return reply;
}

Outcome<NameReply> read_link(Transaction& txn, const NameRequest& request) {
  const auto record = NameTable(txn).file(request.inode);
  if (!record) return tl::unexpected(record.error());
  if (!S_ISLNK(record->mode)) return tl::unexpected(EINVAL);
  const auto target = txn.get(Table::xattrs, key_of(request.inode, std::string_view()));
  if (!target) return tl::unexpected(EIO);
  NameReply reply = reply_of(request.inode, *record);
  reply.text = *target;
  return reply;
}

Outcome<NameReply> carry_out_change(ChangeContext& context, const NameRequest& request) {
  switch (request.op) {
    case NameOp::close:
      return close_file(context, request.inode);
    case NameOp::setattr:
      return change_attributes(context, request);
    case NameOp::grow:
      return grow_file(context, request);
    case NameOp::append:
      return append_to_file(context, request);
    case NameOp::make:
      return make_file(context, request);
    case NameOp::link:
      return link_file(context, request);
    case NameOp::unlink:
    case NameOp::rmdir:
      return remove_file(context, request);
    case NameOp::rename:
      return rename_file(context, request);
    case NameOp::setxattr:
    case NameOp::removexattr:
      return change_xattr(context, request);
    case NameOp::lose_copy:
      return lose_copy(context, request);
    default:
      return tl::unexpected(EINVAL);
  }
}

/// What makes the store larger, and is refused where the disk is full.
bool adds(NameOp op) {
  return op == NameOp::make || op == NameOp::link || op == NameOp::setxattr || op == NameOp::rename;
}

/// Keeps the answer, and drops those that the session has had.
Done keep_answer(Transaction& txn, uint64_t session, const NameRequest& request,
                 const NameReply& reply) {
  std::vector<std::string> settled;
  auto looked =
      txn.each(Table::answers, key_of(session, uint64_t{0}), [&](std::string_view key, auto) {
        if (number_at(key, 0) != session || number_at(key, 8) >= request.settled) return false;
        settled.emplace_back(key);
        return true;
      });
  if (!looked) return looked;
  for (const std::string& key : settled)
    if (auto removed = txn.remove(Table::answers, key); !removed) return removed;
  const auto packed = pack_name_reply(reply);
  return txn.put(Table::answers, key_of(session, request.sequence),
                 {reinterpret_cast<const char*>(packed.data()), packed.size()});
}

}  // namespace

Result<std::unique_ptr<Names>> Names::open(const std::string& folder, const NamesOptions& options) {
  auto database = Database::open(folder, options.durable);
  if (!database) return tl::unexpected(database.error());
  std::unique_ptr<Names> made(new Names(std::move(*database), options));
  if (auto root = made->make_root(); !root) return tl::unexpected(root.error());
  return made;
}

Status Names::make_root() {
  auto txn = database_->begin(true);
  if (!txn) return fail(txn.error(), "the names cannot be changed");
  NameTable table(*txn);
  if (table.file(kRoot)) return {};
  Record root;
  root.mode = S_IFDIR | 0755;
  root.links = 2;
  root.uid = geteuid();
  root.gid = getegid();
  root.parent = kRoot;
  set_now(root.modified);
  for (int i : {0, 1}) root.accessed[i] = root.changed[i] = root.modified[i];
  Done made = table.put(kRoot, root);
  if (made) made = txn->commit();
  if (!made) return fail(made.error(), "the root folder cannot be made");
  return {};
}

Outcome<NameReply> Names::carry_out(uint64_t session, const NameRequest& request) {
  if (request.op == NameOp::open) return open_file(session, request);
  if (request.op == NameOp::watch) return watch(session, request);
  return request.op >= kFirstChange ? change(session, request) : look(request);
}

Outcome<NameReply> Names::look(const NameRequest& request) {
  auto txn = database_->begin(false);
  if (!txn) return tl::unexpected(txn.error());
  switch (request.op) {
    case NameOp::lookup:
      return look_up(*txn, request);
    case NameOp::readdir:
      return list(*txn, request);
    case NameOp::readlink:
      return read_link(*txn, request);
    case NameOp::getxattr:
    case NameOp::listxattr:
      return look_at_xattrs(*txn, request);
    default:
      break;
  }
  const auto record = NameTable(*txn).file(request.inode);
  if (!record) return tl::unexpected(record.error());
  return reply_of(request.inode, *record);
}

void Names::count_open(Inode inode, uint64_t session, uint64_t number) {
  if (number > 0) {
    open_[inode][session] = number;
    return;
  }
  const auto file = open_.find(inode);
  if (file == open_.end()) return;
  file->second.erase(session);
  if (file->second.empty()) open_.erase(file);
}

Outcome<NameReply> Names::open_file(uint64_t session, const NameRequest& request) {
  const std::lock_guard lock(mutex_);
  NameRequest getattr = request;
  getattr.op = NameOp::getattr;
  auto reply = look(getattr);
  if (reply) count_open(request.inode, session, request.number);
  return reply;
}

Outcome<NameReply> Names::watch(uint64_t session, const NameRequest& request) {
  const auto inodes = unpack_inodes(request.text);
  const std::lock_guard lock(mutex_);
  NameReply reply;
  reply.number = watches_.grant(session, inodes, lease_clock_ns()) ? 1 : 0;
  return reply;
}

/// Whose attributes or entries a request changes, as the names are now.
std::vector<Inode> Names::touched_by(const NameRequest& request) {
  std::vector<Inode> touched{request.inode};
  if (request.op == NameOp::link || request.op == NameOp::rename) touched.push_back(request.other);
  const bool removes = request.op == NameOp::unlink || request.op == NameOp::rmdir;
  if (!removes && request.op != NameOp::rename) return touched;
  auto txn = database_->begin(false);
  if (!txn) return touched;
  const NameTable table(*txn);
  if (const auto entry = table.name(request.inode, request.name)) touched.push_back(entry->inode);
  if (request.op == NameOp::rename)
    if (const auto entry = table.name(request.other, request.text)) touched.push_back(entry->inode);
  return touched;
}

void Names::wait_for_watches(std::unique_lock<std::mutex>& lock, uint64_t session,
                             const NameRequest& request) {
  if (!is_seen(request.op) || !watches_.any(lease_clock_ns())) return;
  while (const int64_t left = watches_.left(session, touched_by(request), lease_clock_ns())) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::nanoseconds(left));
    lock.lock();
  }
}

Outcome<NameReply> Names::change(uint64_t session, const NameRequest& request) {
  std::unique_lock lock(mutex_);
  wait_for_watches(lock, session, request);
  if (auto room = database_->reserve(); !room && adds(request.op))
    return tl::unexpected(room.error());
  auto txn = database_->begin(true);
  if (!txn) return tl::unexpected(txn.error());
  if (const auto answer = txn->get(Table::answers, key_of(session, request.sequence)); answer) {
    auto reply = unpack_name_reply(std::as_bytes(std::span(*answer)));
    if (!reply) return tl::unexpected(EIO);
    return *reply;
  }
  if (request.op == NameOp::close) count_open(request.inode, session, request.number);
  NameTable table(*txn);
  ChangeContext context{*txn, table, options_.servers, options_.stripe,
                        [this](Inode inode) { return is_open(inode); }};
  auto reply = carry_out_change(context, request);
  if (!reply) return reply;
  Done done = keep_answer(*txn, session, request, *reply);
  if (done) done = txn->commit();
  if (!done) return tl::unexpected(done.error());
  if (request.op == NameOp::make && request.flags & kOpens)
    count_open(reply->attributes.inode, session, 1);
  return reply;
}

Outcome<uint64_t> Names::files() {
  auto txn = database_->begin(false);
  if (!txn) return tl::unexpected(txn.error());
  return txn->count(Table::inodes);
}

Outcome<std::vector<Inode>> Names::drop_orphans() {
  const std::lock_guard lock(mutex_);
  auto txn = database_->begin(true);
  if (!txn) return tl::unexpected(txn.error());
  std::vector<Inode> gone;
  auto done = txn->each(Table::orphans, {}, [&](std::string_view key, std::string_view) {
    if (!is_open(number_at(key, 0))) gone.push_back(number_at(key, 0));
    return true;
  });
  NameTable table(*txn);
  for (const Inode inode : gone)
    if (done) done = table.forget(inode);
  if (done) done = txn->commit();
  if (!done) return tl::unexpected(done.error());
  return gone;
}

}  // namespace haichi::gasfs
