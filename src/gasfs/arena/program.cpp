#include "gasfs/arena/program.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

namespace haichi::gasfs::arena {

Result<std::unique_ptr<Program>> Program::make(pid_t pid) {
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
  return std::unique_ptr<Program>(new Program(pid, end, memory, *arena));
}

Program::Program(pid_t pid, int end_fd, int memory_fd, Arena& arena)
    : pid_(pid), end_fd_(end_fd), memory_fd_(memory_fd), arena_(arena), slots_(kSlots) {
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

void Program::cut_off() {
  cut_off_ = true;
  arena_.closed.store(1, std::memory_order_release);
}

}  // namespace haichi::gasfs::arena
