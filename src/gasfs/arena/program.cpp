#include "gasfs/arena/program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <new>

#include "gasfs/arena/ring_writer.h"

namespace haichi::gasfs::arena {
namespace {

/// The lease that stands there is over. `own` is what the program cannot change. Gives the next.
uint32_t next_lease(uint32_t& own, std::atomic<uint32_t>& shown) {
  if (++own == 0) ++own;
  shown.store(own, std::memory_order_seq_cst);
  return own;
}

}  // namespace

Result<std::shared_ptr<Program>> Program::make(pid_t pid) {
  const int end = int(syscall(SYS_pidfd_open, pid, 0));
  if (end < 0) return fail(errno, "no descriptor of process {}: {}", pid, strerror(errno));
  const int memory = memfd_create("haichi-gasfs-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void* at = MAP_FAILED;
  if (memory >= 0 && ftruncate(memory, sizeof(Arena)) == 0 &&
      fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    at =
        mmap(nullptr, sizeof(Arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
  }
  if (at == MAP_FAILED) {
    const int code = errno;
    close(end);
    if (memory >= 0) close(memory);
    return fail(code, "no arena for process {}: {}", pid, strerror(code));
  }
  auto* const arena = static_cast<Arena*>(at);  // zeros are what its members begin with
  arena->version = kLayoutVersion;
  return std::shared_ptr<Program>(new Program(pid, end, memory, *arena));
}

Program::Program(pid_t pid, int end_fd, int memory_fd, Arena& arena)
    : pid_(pid),
      end_fd_(end_fd),
      memory_fd_(memory_fd),
      arena_(arena),
      slots_(kSlots),
      leases_(kSlots),
      names_(kNames) {
  for (size_t i = 0; i < kRings; ++i) rings_.emplace_back(arena.heads[i], arena.rings[i]);
}

Program::~Program() {
  munmap(&arena_, sizeof(Arena));
  close(end_fd_);
  if (memory_fd_ >= 0) close(memory_fd_);
}

std::span<RingReader> Program::rings() {
  const size_t used = arena_.rings_used.load(std::memory_order_acquire);
  return {rings_.data(), std::min(used, kRings)};
}

Ticket* Program::open_in(uint16_t slot) const {
  Ticket* const ticket = slots_[slot].get();
  return ticket && ticket->open ? ticket : nullptr;
}

void Program::bind(uint16_t slot, std::shared_ptr<Ticket> ticket, bool through_kernel) {
  const bool kernel = !ticket || through_kernel;
  end_lease(slot);
  slots_[slot] = std::move(ticket);
  arena_.slots[slot].store(kernel ? kThroughKernel : 0, std::memory_order_release);
}

void Program::send_through_kernel(uint16_t slot) {
  arena_.slots[slot].store(kThroughKernel, std::memory_order_release);
}

void Program::send_through_kernel(Inode inode) {
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot] && slots_[slot]->inode == inode) send_through_kernel(uint16_t(slot));
  }
}

std::optional<Question> Program::next_question() {
  const uint64_t asking = arena_.asking.load(std::memory_order_acquire);
  if (asking == 0 || cut_off_) return {};
  const auto ring = size_t(std::countr_zero(asking));
  arena_.asking.fetch_and(~(uint64_t{1} << ring), std::memory_order_acquire);
  const ReadBox& box = arena_.boxes[ring];
  return Question{ring,
                  box.offset,
                  std::min(box.size, uint32_t(kLargestRead)),
                  box.number,
                  uint16_t(box.slot % kSlots),
                  box.ask};
}

std::span<std::byte> Program::room(const Question& question) {
  return {arena_.answers[question.ring], question.size};
}

void Program::answer(const Question& question, int got, bool leased) {
  end_question(question, got, leased ? leases_[question.slot] : 0);
}

void Program::end_question(const Question& question, int got, uint32_t lease) {
  ReadBox& box = arena_.boxes[question.ring];
  box.got = got;
  box.lease = lease;
  box.answered.store(question.number, std::memory_order_release);
  futex(box.answered, FUTEX_WAKE, 1);
}

void Program::end_lease(uint16_t slot) { next_lease(leases_[slot], arena_.leases[slot]); }

std::vector<Inode> Program::watched(const Question& question) {
  std::vector<Inode> inodes(question.size <= kMostSteps ? question.size : 0);
  if (!inodes.empty()) {
    memcpy(inodes.data(), arena_.answers[question.ring], inodes.size() * sizeof(Inode));
  }
  return inodes;
}

void Program::answer_watch(const Question& question, uint32_t lease, int64_t until) {
  arena_.boxes[question.ring].until = until;
  end_question(question, 0, lease);
}

uint32_t Program::end_name(uint16_t name) {
  return next_lease(names_[name % kNames], arena_.names[name % kNames]);
}

void Program::cut_off() {
  cut_off_ = true;
  arena_.closed.store(1, std::memory_order_release);
}

}  // namespace haichi::gasfs::arena
