// The dispatcher of a node: NodeFiles over the servers. It gathers what the node's processes write,
// arranges it by file offset and scatters few large requests to the servers.
//
// Paper 002, sections 2 and 3.1.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "gasfs/dispatcher/kept_blocks.h"
#include "gasfs/dispatcher/link.h"
#include "gasfs/dispatcher/name_client.h"
#include "gasfs/dispatcher/scatter.h"
#include "gasfs/dispatcher/server_parts.h"
#include "gasfs/dispatcher/trace.h"
#include "gasfs/files/node_files.h"
#include "gasfs/wire/messages.h"

namespace haichi::gasfs {

struct DispatcherOptions {
  std::vector<Address> servers;  // the first has the names
  Secret secret{};
  bool arrange = true;
  bool durable_close = false;               // flush does what fsync does
  uint64_t sub_buffer = uint64_t{4} << 20;  // bytes of a file with which it is first sent
  uint64_t memory = uint64_t{256} << 20;    // bytes of all files, gathered or on their way
  uint64_t cache = uint64_t{64} << 20;      // bytes that were read and are kept; 0: none
  uint64_t pinned = uint64_t{256} << 20;    // bytes of files that are held whole
  int linger_ms = 2000;                     // what was gathered goes after so long at the latest
  int patience_ms = 30'000;                 // and a silent server is given up
  std::shared_ptr<Trace> trace{};           // has what is written, if there is one
  std::string job{};                        // the job's folder, which is told who asks
};

/// What `haichi gasfs status` shows of a node, as the value of this attribute of the root.
inline constexpr std::string_view kStatusAttribute = "user.haichi.status";

class Holding;

class Dispatcher final : public NodeFiles {
 public:
  explicit Dispatcher(const DispatcherOptions& options);
  /// Sends what is gathered; `finish` tells whether it arrived.
  ~Dispatcher() override;

  /// Waits until the server of names answers; its error text, with the server's name. The others
  /// are waited for a little: files may have copies elsewhere.
  Status begin();
  /// Sends all that is gathered and waits for it: the first error, and of how many files.
  Status finish();

  Outcome<Attributes> lookup(Inode folder, std::string_view name) override;
  Outcome<Attributes> getattr(Inode inode) override;
  Outcome<Attributes> setattr(Inode inode, const Changes& changes) override;
  Outcome<Opened> create(Inode folder, std::string_view name, const NewFile& file,
                         int flags) override;
  Outcome<Attributes> mkdir(Inode folder, std::string_view name, const NewFile& file) override;
  Outcome<Attributes> mknod(Inode folder, std::string_view name, const NewFile& file) override;
  Outcome<Attributes> symlink(Inode folder, std::string_view name, std::string_view target,
                              const NewFile& file) override;
  Outcome<std::string> readlink(Inode inode) override;
  Outcome<Attributes> link(Inode inode, Inode folder, std::string_view name) override;
  Done unlink(Inode folder, std::string_view name) override;
  Done rmdir(Inode folder, std::string_view name) override;
  Done rename(Inode from, std::string_view name, Inode to, std::string_view new_name,
              unsigned flags) override;
  Outcome<Opened> open(Inode inode, int flags) override;
  void release(Handle handle) override;
  Done flush(Handle handle) override;
  Done fsync(Handle handle, bool data_only) override;
  Outcome<size_t> write(Handle handle, uint64_t offset, std::span<const std::byte> bytes,
                        pid_t origin) override;
  Outcome<size_t> read(Handle handle, uint64_t offset, std::span<std::byte> bytes) override;
  Done fallocate(Handle handle, int mode, uint64_t offset, uint64_t length) override;
  Outcome<uint64_t> seek(Handle handle, uint64_t offset, Part part) override;
  Done readdir(Inode folder, uint64_t cursor,
               const std::function<bool(const Entry&)>& take) override;
  Outcome<Space> statfs() override;
  Outcome<std::string> getxattr(Inode inode, std::string_view name) override;
  Done setxattr(Inode inode, std::string_view name, std::string_view value, int flags) override;
  Outcome<std::vector<std::string>> listxattr(Inode inode) override;
  Done removexattr(Inode inode, std::string_view name) override;
  int64_t watch(std::span<const Inode> inodes) override;
  void set_watcher(std::shared_ptr<ChangeWatcher> watcher) override {
    names_->set_watcher(std::move(watcher));
  }

 private:
  friend class Holding;

  /// An open file description. What it was told of errors is under its file's lock.
  struct Description {
    File file;
    int flags = 0;
    uint64_t errors_seen = 0;
    ReadPattern reads{};  // its own; under its file's lock too
  };
  using Shared = std::shared_ptr<Description>;

  Outcome<Attributes> ask_attributes(NameRequest request);
  Outcome<Attributes> make(Inode folder, std::string_view name, const NewFile& file,
                           std::string_view target = {});
  Done remove(NameRequest request);
  void drop_objects(const NameReply& reply);
  std::vector<Outgoing> open_again();

  Outcome<Shared> find(Handle handle) const;
  File find_file(Inode inode) const;
  File known_file(Inode inode);
  Opened add(const File& file, int flags, const NameReply& reply);
  void count_close(const File& file);
  /// Puts what is gathered here, and not yet told of, into what the server of names said of a file.
  static void add_gathered(const NodeFile& file, Attributes& attributes);
  /// What is known here of a file's size goes into what the server of names said of it, or the
  /// other way round. `version` is the file's from before the question.
  static void reconcile(NodeFile& file, uint64_t version, Attributes& attributes);
  static uint64_t version_of(const File& file);

  Outcome<size_t> append(Description& description, std::span<const std::byte> bytes);
  void gather(const File& file, uint64_t offset, std::span<const std::byte> bytes);
  void make_room();
  Done finish_writes(Description& description, bool durable);
  /// `file` is none where it is not open here.
  Outcome<Attributes> set_size(Inode inode, const File& file, const Changes& changes);
  /// Asks all servers to do something with their objects of a file, and waits: an errno value, of a
  /// server without which all copies of something would be gone. `file` is none where it is not
  /// open here.
  int ask_all(Kind kind, const ObjectMessage& message, Layout layout, const File& file);
  /// What each answers; those that are stale or given up are not asked where others have copies.
  std::vector<int> ask_each(Kind kind, const ObjectMessage& message, const Layout& layout);
  int cut(Inode inode, uint64_t size, const Layout& layout, const File& file);
  static int64_t now_ms();
  /// Whether another node may have changed what is kept of a file, so that it has to be confirmed.
  bool is_kept_for_long(Inode inode) const;
  Outcome<uint64_t> size_for_read(const File& file, uint64_t end);
  /// Whether what was told last of a file that is pinned holds until now: what others change of it
  /// waits.
  bool is_watched(const File& file);
  /// Asks the servers. `overlaid` tells whether something is in it that they do not have yet.
  int read_part(const File& file, uint64_t offset, std::span<std::byte> bytes, bool& overlaid);
  /// As many of the bytes as come together, from what is kept or from the servers, to be kept.
  Outcome<size_t> read_some(const File& file, uint64_t offset, std::span<std::byte> bytes,
                            uint64_t size);
  void look_ahead(Description& description, uint64_t offset, uint64_t length);
  /// What nobody waits for yet; the file is locked.
  void read_ahead(const File& file, const Ahead& ahead);
  /// Asks for chunks together.
  void fetch(const File& file, std::vector<KeptBlocks::Held> chunks);
  Outcome<size_t> read_kept(Description& description, uint64_t offset, std::span<std::byte> bytes,
                            uint64_t size);
  /// Of servers, a bit each, those that can't be asked now without waiting.
  uint64_t far_servers() const;
  /// What each server is asked for, those of `avoid` left out; the file is locked.
  std::optional<std::vector<ServerPart>> share_out(const File& file, std::span<const Place> places,
                                                   uint64_t avoid) const;
  /// Asks a server for its part; `then` is told that it has come, or of an errno value.
  void ask_for(const File& file, ServerPart& part, std::function<void(int error)> then);
  void send_aged();
  std::string status() const;

  const DispatcherOptions options_;
  Budget budget_;
  KeptBlocks kept_;
  std::vector<std::unique_ptr<Link>> links_;
  std::unique_ptr<NameClient> names_;
  std::unique_ptr<Scatter> scatter_;

  mutable std::shared_mutex mutex_;  // of what is open; before a file's lock, if both are held
  std::unordered_map<Inode, File> files_;
  std::unordered_map<Handle, Shared> handles_;
  Handle last_handle_ = 0;
  uint64_t lost_files_ = 0;  // whose last handle went before its error was told

  std::mutex aging_mutex_;
  std::condition_variable aging_;
  std::set<File> gathering_;  // files that have something gathered
  bool ending_ = false;
  std::atomic<uint64_t> written_bytes_{0};
  std::atomic<uint64_t> read_bytes_{0};     // by processes
  std::atomic<uint64_t> fetched_bytes_{0};  // from servers
  std::atomic<uint64_t> ahead_bytes_{0};    // of these, before anybody asked
  std::atomic<uint64_t> pulled_bytes_{0};   // from other nodes
  std::atomic<uint64_t> given_bytes_{0};    // to other nodes
  std::thread ager_;
};

}  // namespace haichi::gasfs
