// One program that reads and writes through an arena, as the dispatcher sees it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "gasfs/arena/layout.h"
#include "gasfs/arena/ring_reader.h"
#include "gasfs/arena/tickets.h"

namespace haichi::gasfs::arena {

/// What one of its threads asks to read, as it was read once.
struct Question {
  size_t ring = 0;
  uint64_t offset = 0;
  uint32_t size = 0;
  uint32_t number = 0;
  uint16_t slot = 0;
  Ask ask = Ask::read;
};

/// Not thread-safe: the service's mutex guards it, but for `room` and what answers; `end_name` is
/// guarded by the mutex of NameLeases.
class Program {
 public:
  /// Makes the arena of the process `pid`, and what tells when that has ended.
  static Result<std::shared_ptr<Program>> make(pid_t pid);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  /// Readable when the process has ended.
  int end_fd() const { return end_fd_; }
  /// The arena, to be sent to the process; the caller's to close.
  int release_memory_fd() { return std::exchange(memory_fd_, -1); }

  /// The rings that the program has begun to use.
  std::span<RingReader> rings();
  /// What stands in a slot; null if nothing that is open.
  Ticket* open_in(uint16_t slot) const;
  void bind(uint16_t slot, std::shared_ptr<Ticket> ticket, bool through_kernel);
  /// From now on the program's writes to this slot, or to all of this file, go through the kernel.
  void send_through_kernel(uint16_t slot);
  void send_through_kernel(Inode inode);
  /// The next question that nobody has taken yet.
  std::optional<Question> next_question();
  /// Where the bytes of its answer belong, which the program may change as it likes.
  std::span<std::byte> room(const Question& question);
  /// Ends it: `got` bytes, or an errno value, negative. `leased`: they may be kept.
  void answer(const Question& question, int got, bool leased);
  /// What was read by this slot is not right any more.
  void end_lease(uint16_t slot);
  /// The inodes of Ask::watch, as they are now; none if there are too many.
  std::vector<Inode> watched(const Question& question);
  void answer_watch(const Question& question, uint32_t lease, int64_t until);
  /// What was told of this name is not right any more. Gives what Arena::names has now.
  uint32_t end_name(uint16_t name);

  /// Takes nothing any more, and tells the program so.
  void cut_off();
  bool is_cut_off() const { return cut_off_; }

 private:
  Program(pid_t pid, int end_fd, int memory_fd, Arena& arena);

  void end_question(const Question& question, int got, uint32_t lease);

  pid_t pid_;
  int end_fd_;
  int memory_fd_;
  Arena& arena_;
  bool cut_off_ = false;
  std::vector<RingReader> rings_;
  std::vector<std::shared_ptr<Ticket>> slots_;
  std::vector<uint32_t> leases_;  // what stands in the arena is for the program
  std::vector<uint32_t> names_;   // the same
};

}  // namespace haichi::gasfs::arena
