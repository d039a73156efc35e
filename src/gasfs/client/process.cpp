#include "gasfs/client/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>

#include "gasfs/arena/attach.h"
#include "generated/libc_real.h"

namespace haichi::gasfs::client {
namespace {

constexpr size_t kMounts = 8;

/// What goes with fork(2): a page that is zero in the child, which has no arena then.
struct Process {
  std::atomic<arena::Arena*> arena;
  arena::Bell* bell;
  pid_t pid;
  uint32_t number;                   // of the arena, for what threads keep
  std::atomic<uint64_t> free_rings;  // bits: rings that ended threads have left
};

struct ThreadRing {
  arena::RingWriter writer;
  arena::Reader reader;
  uint32_t arena = 0;  // Process::number of the arena that it is in, 0 for none
  uint32_t number = 0;
  bool busy = false;
};

constinit std::mutex attaching;
constinit std::atomic<Process*> process{nullptr};
constinit uint32_t arenas = 0;       // how many this process has had
constinit bool refused = false;      // there is no use in asking again
constinit pthread_key_t thread_end;  // valid once `process` is set
constinit __thread ThreadRing* own_ring [[gnu::tls_model("initial-exec")]] = nullptr;
alignas(ThreadRing) constinit __thread std::byte own_ring_memory
    [[gnu::tls_model("initial-exec")]][sizeof(ThreadRing)] = {};

struct Mounts {
  size_t count = 0;
  MountFolder folders[kMounts] = {};
  std::span<const MountFolder> all() const { return std::span(folders, count); }
};

void add_mount(Mounts& mounts, const char* path, uint64_t device) {
  MountFolder& folder = mounts.folders[mounts.count++];
  folder.device = device;
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') --length;
  if (path[0] != '/' || length >= sizeof folder.path) return;
  memcpy(folder.path, path, length);
  folder.length = uint16_t(length);
}

/// The folders that HAICHI_GASFS names, with colons between them.
Mounts find_mounts() {
  Mounts mounts;
  const char* disabled = getenv("HAICHI_DISABLE");
  const char* at = getenv("HAICHI_GASFS");
  if (!at || (disabled && strcmp(disabled, "1") == 0)) return mounts;
  while (*at != '\0' && mounts.count < kMounts) {
    const size_t length = strcspn(at, ":");
    char path[4096];
    struct stat about;
    if (length > 0 && length < sizeof path) {
      memcpy(path, at, length);
      path[length] = '\0';
      if (libc::real().stat(path, &about) == 0) add_mount(mounts, path, about.st_dev);
    }
    at += length + (at[length] == ':');
  }
  return mounts;
}

constinit Mounts all_mounts;
constinit std::atomic<bool> fills_mounts{false};  // whoever made it so has found them, or will
constinit std::atomic<bool> knows_mounts{false};

/// Nobody waits for another who looks for them: in a child of fork(2) that one may not be there.
[[gnu::noinline]] Mounts look_for_mounts() {
  const Mounts found = find_mounts();
  if (!fills_mounts.exchange(true)) {
    all_mounts = found;
    knows_mounts.store(true, std::memory_order_release);
  }
  return found;
}

/// Asks of them; at once where they are known, as it is asked at each open and stat.
template <class Ask>
bool ask_of_mounts(Ask ask) {
  if (knows_mounts.load(std::memory_order_acquire)) return ask(all_mounts);
  return ask(look_for_mounts());
}

/// The thread has ended: another one may have its ring.
void leave_ring(void*) {
  Process* const own = process.load(std::memory_order_acquire);
  if (own_ring && own && own_ring->arena == own->number && !own_ring->busy) {
    own->free_rings.fetch_or(uint64_t{1} << own_ring->number, std::memory_order_release);
  }
  own_ring = nullptr;
}

void after_fork_in_child() {
  // Its page is zero. What is open is the parent's too, whose positions are in the kernel by now.
  if (own_ring) own_ring->arena = 0;
  refused = false;
  new (&attaching) std::mutex;
  for_each(0, kDescriptors, [](int, OpenFile& file) {
    file.writes.store(OpenFile::not_asked);
    if (file.state.load() == OpenFile::attached) file.state.store(OpenFile::candidate);
  });
}

/// Makes the page, and says what is to be done at fork and at a thread's end, once.
Process* prepare() {
  if (Process* const there = process.load(std::memory_order_acquire)) return there;
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, 4096, MADV_WIPEONFORK) != 0 ||
      pthread_key_create(&thread_end, leave_ring) != 0 ||
      pthread_atfork(share_all, nullptr, after_fork_in_child) != 0) {
    munmap(page, 4096);
    return nullptr;
  }
  auto* const made = static_cast<Process*>(page);
  process.store(made, std::memory_order_release);
  return made;
}

/// Receives the answer to a Hello: the descriptors of arena and bell.
bool receive(int socket, int (&fds)[2]) {
  arena::Hello answer;
  iovec part{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != ssize_t(sizeof answer)) return false;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof fds)) {
    return false;
  }
  memcpy(fds, CMSG_DATA(header), sizeof fds);
  return answer.magic == arena::kMagic && answer.version == arena::kLayoutVersion;
}

/// Asks the dispatcher behind the socket for an arena. Nothing of it stays open here.
bool get_arena(const char* path, int (&fds)[2]) {
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, path, strnlen(path, sizeof address.sun_path - 1));
  const timeval patience{2, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const arena::Hello hello{arena::kMagic, arena::kLayoutVersion};
  const bool good = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                    send(fd, &hello, sizeof hello, MSG_NOSIGNAL) == ssize_t(sizeof hello) &&
                    receive(fd, fds);
  libc::real().close(fd);
  return good;
}

/// Maps what the dispatcher gave; a child of fork has neither.
template <class T>
T* map(int fd) {
  struct stat about;
  if (fstat(fd, &about) != 0 || size_t(about.st_size) < sizeof(T)) return nullptr;
  void* const at = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return nullptr;
  madvise(at, sizeof(T), MADV_DONTFORK);
  return static_cast<T*>(at);
}

bool connect_to(const char* socket) {
  Process* const own = prepare();
  if (!own) return false;
  if (own->arena.load() != nullptr) return true;
  int fds[2] = {-1, -1};
  if (!get_arena(socket, fds)) return false;
  auto* const memory = map<arena::Arena>(fds[0]);
  auto* const bell = map<arena::Bell>(fds[1]);
  libc::real().close(fds[0]);
  libc::real().close(fds[1]);
  if (!memory || !bell || memory->version != arena::kLayoutVersion) return false;
  own->bell = bell;
  own->pid = getpid();
  own->number = ++arenas;
  own->free_rings.store(0);
  own->arena.store(memory, std::memory_order_release);
  return true;
}

/// A program that may make no large files is told of it by the kernel.
bool size_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

/// Which ring a thread that has none gets; kRings if all are used.
size_t free_ring(Process& own, arena::Arena& memory) {
  uint64_t left = own.free_rings.load(std::memory_order_acquire);
  while (left != 0) {
    const uint64_t one = left & -left;
    if (own.free_rings.compare_exchange_weak(left, left & ~one))
      return size_t(__builtin_ctzll(one));
  }
  if (memory.rings_used.load() >= arena::kRings) return arena::kRings;
  return std::min<size_t>(memory.rings_used.fetch_add(1), arena::kRings);
}

/// Gives this thread a ring of the arena.
[[gnu::noinline]] bool begin_ring(Process& own, arena::Arena& memory) {
  const size_t number = free_ring(own, memory);
  if (number >= arena::kRings) return false;
  if (!own_ring) own_ring = new (own_ring_memory) ThreadRing;
  own_ring->writer = arena::RingWriter(memory, number, *own.bell);
  own_ring->reader = arena::Reader(memory, number, *own.bell);
  own_ring->number = uint32_t(number);
  own_ring->arena = own.number;
  pthread_setspecific(thread_end, own_ring);
  return true;
}

std::optional<arena::Attachment> ask_mount(int fd, unsigned command) {
  arena::Attachment attachment;
  if (ioctl(fd, command, &attachment) != 0 || attachment.magic != arena::kMagic ||
      attachment.version != arena::kVersion) {
    return {};
  }
  attachment.socket[sizeof attachment.socket - 1] = '\0';
  return attachment;
}

bool put_binding(OpenFile& file, int fd, uint64_t ticket) {
  arena::RingWriter* const ring = take_ring();
  if (!ring) return false;
  const arena::Record record{.slot = slot_of(file), .kind = arena::Kind::bind, .offset = ticket};
  const bool put = ring->put(record, [](std::byte*) {}, fd);
  done_with_ring();
  return put;
}

}  // namespace

bool any_mounts() {
  return ask_of_mounts([](const Mounts& mounts) { return mounts.count != 0; });
}

bool is_ours(uint64_t device) {
  return ask_of_mounts([&](const Mounts& mounts) {
    return std::ranges::any_of(mounts.all(),
                               [&](const MountFolder& folder) { return folder.device == device; });
  });
}

const MountFolder* mount_above(const char* path) {
  if (!knows_mounts.load(std::memory_order_acquire)) return nullptr;
  for (const MountFolder& folder : all_mounts.all()) {
    if (folder.length != 0 && strncmp(path, folder.path, folder.length) == 0 &&
        path[folder.length] == '/') {
      return &folder;
    }
  }
  return nullptr;
}

bool attach_to(const MountFolder& mount) {
  const std::unique_lock lock(attaching, std::try_to_lock);
  if (!lock || refused) return false;
  if (const Process* const own = process.load(); own && own->arena.load()) return true;
  const int fd = libc::real().open(mount.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK, 0);
  if (fd < 0) return false;
  const auto attachment = ask_mount(fd, arena::kFindSocket);
  libc::real().close(fd);
  refused = !attachment || !connect_to(attachment->socket);
  return !refused;
}

uint32_t lease_of_name(size_t number) {
  const Process* const own = process.load(std::memory_order_acquire);
  const arena::Arena* const memory = own ? own->arena.load(std::memory_order_acquire) : nullptr;
  if (!memory || memory->closed.load(std::memory_order_acquire) != 0) return 0;
  return memory->names[number].load(std::memory_order_seq_cst);
}

arena::RingWriter* take_ring() {
  Process* const own = process.load(std::memory_order_acquire);
  if (!own) return nullptr;
  arena::Arena* const memory = own->arena.load(std::memory_order_acquire);
  if (!memory || memory->closed.load(std::memory_order_relaxed) != 0) return nullptr;
  if (own_ring && own_ring->busy) return nullptr;
  if (!own_ring || own_ring->arena != own->number) {
    if (!begin_ring(*own, *memory)) return nullptr;
  }
  own_ring->busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return &own_ring->writer;
}

arena::Reader* take_reader() { return take_ring() ? &own_ring->reader : nullptr; }

void done_with_ring() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  own_ring->busy = false;
}

bool is_through_kernel(const OpenFile& file) {
  const Process* const own = process.load(std::memory_order_relaxed);
  const arena::Arena* const memory = own ? own->arena.load(std::memory_order_relaxed) : nullptr;
  return !memory || memory->slots[slot_of(file)].load(std::memory_order_acquire) != 0;
}

bool is_borrowed() {
  const Process* const own = process.load(std::memory_order_acquire);
  return own && own->pid != 0 && own->pid != getpid();
}

bool attach(OpenFile& file, int fd) {
  const int before = errno;
  const std::lock_guard lock(attaching);
  if (file.state.load() != OpenFile::candidate) return file.state.load() == OpenFile::attached;
  const auto attachment = ask_mount(fd, arena::kAttach);
  bool attached = false;
  if (!refused && attachment) {
    if (connect_to(attachment->socket)) {
      process.load()->arena.load()->slots[slot_of(file)].store(0);
      attached = put_binding(file, fd, attachment->ticket);
    } else {
      refused = true;
    }
  }
  file.state.store(attached ? OpenFile::attached : OpenFile::refused, std::memory_order_release);
  errno = before;
  return attached;
}

bool attach_to_write(OpenFile& file, int fd) {
  if (file.access == O_RDONLY || !attach(file, fd)) return false;
  const int before = errno;
  const std::lock_guard lock(attaching);
  if (file.writes.load() == OpenFile::not_asked) {
    const bool may = !size_is_limited() && ask_mount(fd, arena::kAttachToWrite);
    file.writes.store(may ? OpenFile::granted : OpenFile::denied, std::memory_order_release);
  }
  errno = before;
  return file.writes.load() == OpenFile::granted;
}

}  // namespace haichi::gasfs::client
