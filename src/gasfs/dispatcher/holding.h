// Files that this node holds whole, so that no reader of it waits for a server: how it gets them,
// and gives them on to other nodes (`haichi gasfs broadcast`).
//
// The nodes stand in a row. The first one asks the servers, each other one the node before it,
// which gives on what has come while the rest is on its way: each byte leaves the servers once, and
// comes once and goes once over the link of each node. Where the one before fails, the one before
// that is asked, and at last the servers.
//
// What another node gives has to be of the state that this one was told of by the server of names,
// and is right as long as what comes from the servers is (kept_blocks.h). What was written here
// meanwhile the other node may lack: nothing is begun any more then.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gasfs/dispatcher/dispatcher.h"
#include "gasfs/wire/connections.h"
#include "gasfs/wire/hold_messages.h"

namespace haichi::gasfs {

/// Thread-safe. Ends before the dispatcher does.
class Holding {
 public:
  explicit Holding(Dispatcher& files) : files_(files) {}
  /// What is on its way is given up.
  ~Holding();

  /// From now on other nodes can ask for what this one holds: where. Once, when the dispatcher has
  /// begun.
  Result<Address> listen();
  /// The body of the answer to another node, or to the command.
  Result<std::vector<std::byte>> answer(const Frame& frame);

 private:
  /// A file that is to be held. What is told of it is under `mutex_`.
  struct Task {
    HoldMessage what;
    HeldMessage told;
    std::thread thread;
    bool over = false;
  };
  /// A file while it comes, of the thread that fetches it.
  struct Coming {
    File file;
    uint64_t version = 0;  // NodeFile::version: what is written here changes it
    uint64_t size = 0;
    KeptBlocks::State state;
  };
  struct Asked;
  class Source;

  int begin(const HoldMessage& what);
  void run(Task& task);
  int fetch(Task& task);
  int prepare(Coming& coming);
  int fetch_all(Task& task, const Coming& coming);
  void ask_servers(const Coming& coming, const KeptBlocks::Held& chunk);
  void make_room();
  void note(Task& task, const std::string& trouble);
  Result<std::vector<std::byte>> give(std::span<const std::byte> body);
  HeldMessage tell(Inode inode);
  void forget_old();

  Dispatcher& files_;
  std::atomic<uint64_t> refused_{0};
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::map<Inode, std::unique_ptr<Task>> tasks_;

  Descriptor stop_;
  std::unique_ptr<Connections> connections_;
  std::thread listening_;
};

}  // namespace haichi::gasfs
