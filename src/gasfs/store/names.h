// The names, attributes and links of all files, in an embedded store: what the server of names
// knows. One thread changes something at a time, in one transaction each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "gasfs/files/lease_clock.h"
#include "gasfs/store/database.h"
#include "gasfs/store/watches.h"
#include "gasfs/wire/name_messages.h"

namespace haichi::gasfs {

struct NamesOptions {
  bool durable = false;  // each change is on the disk before it is answered
  uint32_t servers = 1;  // over which new files are dealt out
  uint64_t stripe = Layout{}.stripe;
};

/// Thread-safe.
class Names {
 public:
  /// Makes the root folder of a new store, which belongs to the caller.
  static Result<std::unique_ptr<Names>> open(const std::string& folder,
                                             const NamesOptions& options);

  /// Carries a request of a session out: what changes something exactly once, also if it is sent
  /// again, to another process of this server.
  Outcome<NameReply> carry_out(uint64_t session, const NameRequest& request);
  Done sync() { return database_->sync(); }
  Outcome<uint64_t> files();
  Database& database() { return *database_; }

  /// Forgets files without a name that no session says to have open, which an earlier process of
  /// this server kept for sessions that did not come back. Gives those of which objects can go.
  Outcome<std::vector<Inode>> drop_orphans();

 private:
  Names(std::unique_ptr<Database> database, const NamesOptions& options)
      : database_(std::move(database)), options_(options) {}
  Status make_root();
  Outcome<NameReply> look(const NameRequest& request);
  Outcome<NameReply> open_file(uint64_t session, const NameRequest& request);
  Outcome<NameReply> watch(uint64_t session, const NameRequest& request);
  Outcome<NameReply> change(uint64_t session, const NameRequest& request);
  /// Until no other session counts on what the request changes; the lock is released meanwhile.
  void wait_for_watches(std::unique_lock<std::mutex>& lock, uint64_t session,
                        const NameRequest& request);
  std::vector<Inode> touched_by(const NameRequest& request);
  void count_open(Inode inode, uint64_t session, uint64_t number);
  bool is_open(Inode inode) const { return open_.contains(inode); }

  const std::unique_ptr<Database> database_;
  const NamesOptions options_;
  std::mutex mutex_;  // held while something changes, or is opened
  // How often each session has a file open.
  std::unordered_map<Inode, std::map<uint64_t, uint64_t>> open_;
  Watches watches_{lease_clock_ns()};
};

}  // namespace haichi::gasfs
