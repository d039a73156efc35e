#include "gasfs/store/database.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

namespace haichi::gasfs {
namespace {

constexpr std::array kTables{"inodes", "names", "order", "xattrs", "orphans", "answers", "facts"};
static_assert(kTables.size() == static_cast<size_t>(Table::facts) + 1);
/// Addresses that are set aside; the file is as large as what is in it.
constexpr size_t kMostBytes = sizeof(void*) == 8 ? size_t{256} << 30 : size_t{1} << 30;
constexpr unsigned kMostReaders = 1024;
/// Room for changes that are made though the disk is full, and what is reserved at once.
constexpr uint64_t kMargin = 1 << 20, kReserve = 3 << 20;

MDB_val value_of(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }
std::string_view text_of(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

/// LMDB's own codes are negative.
int errno_of(int code) {
  if (code > 0) return code;
  switch (code) {
    case MDB_NOTFOUND:
      return ENOENT;
    case MDB_MAP_FULL:
    case MDB_TXN_FULL:
      return ENOSPC;
    case MDB_READERS_FULL:
      return EAGAIN;
    default:
      return EIO;
  }
}

Done done(int code) { return code == 0 ? Done{} : tl::unexpected(errno_of(code)); }

}  // namespace

std::string key_of(uint64_t number) {
  std::string key(8, '\0');
  for (int i = 0; i < 8; ++i) key[i] = static_cast<char>(number >> (56 - 8 * i));
  return key;
}
std::string key_of(uint64_t number, uint64_t second) { return key_of(number) + key_of(second); }
std::string key_of(uint64_t number, std::string_view text) { return key_of(number).append(text); }
uint64_t number_at(std::string_view key, size_t position) {
  uint64_t number = 0;
  for (size_t i = position; i < position + 8 && i < key.size(); ++i)
    number = number << 8 | static_cast<unsigned char>(key[i]);
  return number;
}

Outcome<std::string_view> Transaction::get(Table table, std::string_view key) const {
  MDB_val wanted = value_of(key), found{};
  const int code = mdb_get(txn_, tables_[static_cast<int>(table)], &wanted, &found);
  if (code != 0) return tl::unexpected(errno_of(code));
  return text_of(found);
}

Done Transaction::put(Table table, std::string_view key, std::string_view value) {
  MDB_val where = value_of(key), what = value_of(value);
  return done(mdb_put(txn_, tables_[static_cast<int>(table)], &where, &what, 0));
}

Done Transaction::remove(Table table, std::string_view key) {
  MDB_val where = value_of(key);
  const int code = mdb_del(txn_, tables_[static_cast<int>(table)], &where, nullptr);
  return done(code == MDB_NOTFOUND ? 0 : code);
}

Done Transaction::each(Table table, std::string_view key,
                       const std::function<bool(std::string_view, std::string_view)>& take) const {
  MDB_cursor* cursor = nullptr;
  if (const int code = mdb_cursor_open(txn_, tables_[static_cast<int>(table)], &cursor); code != 0)
    return done(code);
  MDB_val at = value_of(key), value{};
  int code = mdb_cursor_get(cursor, &at, &value, key.empty() ? MDB_FIRST : MDB_SET_RANGE);
  while (code == 0 && take(text_of(at), text_of(value)))
    code = mdb_cursor_get(cursor, &at, &value, MDB_NEXT);
  mdb_cursor_close(cursor);
  return done(code == MDB_NOTFOUND ? 0 : code);
}

Outcome<uint64_t> Transaction::count(Table table) const {
  MDB_stat stat{};
  const int code = mdb_stat(txn_, tables_[static_cast<int>(table)], &stat);
  if (code != 0) return tl::unexpected(errno_of(code));
  return stat.ms_entries;
}

Done Transaction::commit() { return done(mdb_txn_commit(std::exchange(txn_, nullptr))); }

Result<std::unique_ptr<Database>> Database::open(const std::string& folder, bool durable) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(errno, "cannot make {}: {}", folder, std::strerror(errno));
  MDB_env* env = nullptr;
  int code = mdb_env_create(&env);
  if (code != 0) return fail(ENOMEM, "no LMDB: {}", mdb_strerror(code));
  std::unique_ptr<Database> made(new Database(env));
  mdb_env_set_mapsize(env, kMostBytes);
  mdb_env_set_maxdbs(env, kTables.size());
  mdb_env_set_maxreaders(env, kMostReaders);
  // NOTLS: a transaction that looks is the request's, not the thread's.
  const unsigned flags = MDB_NOTLS | (durable ? 0u : unsigned{MDB_NOSYNC});
  if (code = mdb_env_open(env, folder.c_str(), flags, 0600); code != 0)
    return fail(errno_of(code), "cannot open the names in {}: {}", folder, mdb_strerror(code));
  int stale = 0;
  mdb_reader_check(env, &stale);
  MDB_txn* txn = nullptr;
  if (code = mdb_txn_begin(env, nullptr, 0, &txn); code == 0) {
    for (size_t i = 0; i < kTables.size() && code == 0; ++i)
      code = mdb_dbi_open(txn, kTables[i], MDB_CREATE, &made->tables_[i]);
    if (code == 0)
      code = mdb_txn_commit(txn);
    else
      mdb_txn_abort(txn);
  }
  if (code != 0)
    return fail(errno_of(code), "cannot open the names in {}: {}", folder, mdb_strerror(code));
  return made;
}

Outcome<Transaction> Database::begin(bool changes) {
  MDB_txn* txn = nullptr;
  const int code = mdb_txn_begin(env_, nullptr, changes ? 0u : unsigned{MDB_RDONLY}, &txn);
  if (code != 0) return tl::unexpected(errno_of(code));
  return Transaction(txn, tables_);
}

Done Database::reserve() {
  MDB_envinfo info{};
  MDB_stat stat{};
  mdb_env_info(env_, &info);
  mdb_env_stat(env_, &stat);
  const uint64_t used = (info.me_last_pgno + 1) * stat.ms_psize;
  if (used + kMargin <= reserved_) return {};
  int fd = -1;
  mdb_env_get_fd(env_, &fd);
  const uint64_t wanted = used + kMargin + kReserve;
  if (::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(wanted)) != 0)
    // A file system that cannot do it says so when it is written to.
    return errno == ENOSPC || errno == EDQUOT ? tl::unexpected(errno) : Done{};
  reserved_ = wanted;
  return {};
}

Done Database::sync() { return done(mdb_env_sync(env_, 1)); }

}  // namespace haichi::gasfs
