// LMDB with errors as values: what the store of names stands on.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "gasfs/files/node_files.h"

namespace haichi::gasfs {

/// Numbers as keys whose order is theirs.
std::string key_of(uint64_t number);
std::string key_of(uint64_t number, uint64_t second);
std::string key_of(uint64_t number, std::string_view text);
uint64_t number_at(std::string_view key, size_t position);

/// The tables of a store. Their numbers are those of Database::open's names.
enum class Table { inodes, names, order, xattrs, orphans, answers, facts };

/// A transaction: all that was changed in it is there after `commit`, or nothing. One that changes
/// something waits for the other that does. Of one thread.
class Transaction {
 public:
  Transaction(MDB_txn* txn, const unsigned* tables) : txn_(txn), tables_(tables) {}
  Transaction(Transaction&& other) noexcept
      : txn_(std::exchange(other.txn_, nullptr)), tables_(other.tables_) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    if (txn_) mdb_txn_abort(txn_);
  }

  /// ENOENT where there is none. Valid until something is changed.
  Outcome<std::string_view> get(Table table, std::string_view key) const;
  Done put(Table table, std::string_view key, std::string_view value);
  /// Nothing to remove is no error.
  Done remove(Table table, std::string_view key);
  /// Gives the entries whose key is not below `key` until one is refused.
  Done each(Table table, std::string_view key,
            const std::function<bool(std::string_view, std::string_view)>& take) const;
  /// How many entries a table has, without a look at them.
  Outcome<uint64_t> count(Table table) const;
  Done commit();

 private:
  MDB_txn* txn_;
  const unsigned* tables_;
};

class Database {
 public:
  /// `durable`: a transaction is on the disk when it is committed. Otherwise it is in the kernel,
  /// which the death of this process does not change, and `sync` brings it to the disk.
  static Result<std::unique_ptr<Database>> open(const std::string& folder, bool durable);
  ~Database() { mdb_env_close(env_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Outcome<Transaction> begin(bool changes);
  /// Sees to it that the disk has room for what a transaction writes, ahead of time: ENOSPC where
  /// it has not. Changes that free something are tried all the same: there is room left for them.
  Done reserve();
  Done sync();

 private:
  explicit Database(MDB_env* env) : env_(env) {}
  MDB_env* env_;
  unsigned tables_[static_cast<int>(Table::facts) + 1] = {};
  uint64_t reserved_ = 0;  // bytes of the file that the disk has set aside
};

}  // namespace haichi::gasfs
