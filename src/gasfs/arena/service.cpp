#include "gasfs/arena/service.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "base/log.h"
#include "gasfs/arena/attach.h"
#include "gasfs/arena/gathering.h"
#include "gasfs/arena/ring_writer.h"
#include "gasfs/arena/stamp.h"

namespace haichi::gasfs::arena {
namespace {

// How long a record may lie before it is looked at: other programs see it in any case, since each
// request of the kernel empties the rings first.
constexpr timespec kLinger{0, 5'000'000};
constexpr timespec kSecondLook{0, 20'000'000};
constexpr size_t kMostPrograms = 1024;
constexpr size_t kReaders = 16;        // each may wait for a server
constexpr size_t kMostStrangers = 64;  // who are connected and have said nothing yet

/// Sends the answer to a Hello with the arena and the bell.
bool send_answer(int socket, int arena, int bell) {
  Hello hello{kMagic, kLayoutVersion};
  iovec part{&hello, sizeof hello};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int fds[] = {arena, bell};
  memcpy(CMSG_DATA(header), fds, sizeof fds);
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == ssize_t(sizeof hello);
}

}  // namespace

struct Service::Parts {
  Parts(NodeFiles& files, std::string where, Bell& ring)
      : path(std::move(where)), bell(ring), gathering(files, ring) {}
  ~Parts() {
    munmap(&bell, sizeof bell);
    if (listener.get() >= 0) unlink(path.c_str());
  }

  void talk();
  void empty_rings();
  void answer_readers();
  void meet();
  void answer(int stranger);
  void watch(int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(poll.get(), EPOLL_CTL_ADD, fd, &event);
  }

  std::string path;
  Bell& bell;
  Gathering gathering;
  Descriptor bell_fd, listener, poll, stop;
  std::map<int, Descriptor> strangers;
  std::map<int, pid_t> ends;  // of processes, by the descriptor that tells of it
  std::atomic<bool> ending{false};
  std::thread talker, emptier;
  std::vector<std::thread> readers;
};

void Service::Parts::meet() {
  Descriptor stranger(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (stranger.get() < 0) return;
  if (strangers.size() >= kMostStrangers) strangers.erase(strangers.begin());
  const int fd = stranger.get();
  watch(fd);
  strangers[fd] = std::move(stranger);
}

void Service::Parts::answer(int stranger) {
  const Descriptor socket = std::move(strangers[stranger]);
  strangers.erase(stranger);
  Hello hello;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (recv(socket.get(), &hello, sizeof hello, MSG_DONTWAIT | MSG_TRUNC) != sizeof hello ||
      hello.magic != kMagic || hello.version != kLayoutVersion ||
      getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return;
  }
  const std::lock_guard lock(gathering.mutex);
  gathering.remove(peer.pid);  // it has become another program by exec
  std::erase_if(ends, [&](const auto& end) { return end.second == peer.pid; });
  if (ends.size() >= kMostPrograms) return;
  auto program = Program::make(peer.pid);
  if (!program) {
    log(LogLevel::warn, "{}: it writes through the kernel", program.error().text);
    return;
  }
  const Descriptor memory((*program)->release_memory_fd());
  if (!send_answer(socket.get(), memory.get(), bell_fd.get())) return;
  watch((*program)->end_fd());
  ends[(*program)->end_fd()] = peer.pid;
  gathering.add(std::move(*program));
}

void Service::Parts::talk() {
  while (!ending) {
    epoll_event events[16];
    const int count = epoll_wait(poll.get(), events, 16, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listener.get()) {
        meet();
      } else if (strangers.contains(fd)) {
        answer(fd);
      } else if (const auto end = ends.find(fd); end != ends.end()) {
        const std::lock_guard lock(gathering.mutex);
        gathering.remove(end->second);
        ends.erase(end);
      }
    }
  }
}

void Service::Parts::empty_rings() {
  int idle = 0;  // how often nothing was found
  while (!ending) {
    const uint32_t heard = bell.rings.load(std::memory_order_acquire);
    bool found;
    {
      const std::lock_guard lock(gathering.mutex);
      found = gathering.drain();
    }
    idle = found ? 0 : idle + 1;
    if (ending) break;
    if (idle == 0) {
      // Whoever fills half a ring meanwhile rings.
      futex(bell.rings, FUTEX_WAIT, heard, &kLinger);
    } else {
      // The program stores a record and then looks whether it is to ring, without a fence in
      // between: what it stored is seen long before the second look.
      bell.asleep.store(1, std::memory_order_seq_cst);
      futex(bell.rings, FUTEX_WAIT, heard, idle == 1 ? &kSecondLook : nullptr);
    }
  }
}

void Service::Parts::answer_readers() {
  while (!ending) {
    const uint32_t heard = bell.questions.load(std::memory_order_acquire);
    if (!gathering.answer_one() && !ending) futex(bell.questions, FUTEX_WAIT, heard);
  }
}

Service::Service(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Service>> Service::make(NodeFiles& files, const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path || socket.size() >= sizeof Attachment{}.socket) {
    return fail(ENAMETOOLONG, "socket {}: its name is longer than {} bytes", socket,
                sizeof address.sun_path - 1);
  }
  memcpy(address.sun_path, socket.data(), socket.size());
  Descriptor bell_fd(memfd_create("haichi-gasfs-bell", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  void* at = MAP_FAILED;
  if (bell_fd.get() >= 0 && ftruncate(bell_fd.get(), sizeof(Bell)) == 0 &&
      fcntl(bell_fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    at = mmap(nullptr, sizeof(Bell), PROT_READ | PROT_WRITE, MAP_SHARED, bell_fd.get(), 0);
  }
  if (at == MAP_FAILED) return fail(errno, "no memory for programs: {}", strerror(errno));
  auto& bell = *static_cast<Bell*>(at);
  bell.version = kLayoutVersion;
  bell.stamps_counted = processor_clock_trusted() ? 0 : 1;
  auto parts = std::make_unique<Parts>(files, socket, bell);
  parts->bell_fd = std::move(bell_fd);
  Descriptor listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener.get() < 0 ||
      bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return fail(errno, "socket {}: {}", socket, strerror(errno));
  }
  parts->listener = std::move(listener);
  parts->poll = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  parts->stop = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (listen(parts->listener.get(), 128) != 0 || parts->poll.get() < 0 || parts->stop.get() < 0) {
    return fail(errno, "socket {}: {}", socket, strerror(errno));
  }
  parts->watch(parts->listener.get());
  parts->watch(parts->stop.get());
  Parts& is = *parts;
  is.talker = std::thread([&is] { is.talk(); });
  is.emptier = std::thread([&is] { is.empty_rings(); });
  for (size_t i = 0; i < kReaders; ++i) is.readers.emplace_back([&is] { is.answer_readers(); });
  return std::unique_ptr<Service>(new Service(std::move(parts)));
}

Service::~Service() {
  Parts& is = *parts_;
  is.ending = true;
  eventfd_write(is.stop.get(), 1);
  ring_bell(is.bell);
  is.talker.join();
  is.emptier.join();
  is.bell.questions.fetch_add(1);
  futex(is.bell.questions, FUTEX_WAKE, int(kReaders));
  for (auto& reader : is.readers) reader.join();
  const std::lock_guard lock(is.gathering.mutex);
  is.gathering.close();
}

Counts Service::counts() const {
  const std::lock_guard lock(parts_->gathering.mutex);
  Counts counts = parts_->gathering.counts;
  counts.programs = parts_->gathering.programs();
  return counts;
}

void Service::settle() {
  const std::lock_guard lock(parts_->gathering.mutex);
  parts_->gathering.drain();
}

void Service::opened(Inode inode) {
  const std::lock_guard lock(parts_->gathering.mutex);
  parts_->gathering.tickets.opened(inode);
}

int Service::attach(Inode inode, Handle handle, bool writes, std::span<char> reply) {
  if (const int failed = tell_socket(reply)) return failed;
  const std::lock_guard lock(parts_->gathering.mutex);
  if (parts_->gathering.tickets.is_mapped(inode)) return EBUSY;
  const uint64_t ticket = parts_->gathering.give_ticket(inode, handle, writes);
  memcpy(&reply[offsetof(Attachment, ticket)], &ticket, sizeof ticket);
  return 0;
}

int Service::tell_socket(std::span<char> reply) {
  Attachment attachment{.magic = kMagic, .version = kVersion};
  if (reply.size() < sizeof attachment) return EINVAL;
  memcpy(attachment.socket, parts_->path.data(), parts_->path.size());
  memcpy(reply.data(), &attachment, sizeof attachment);
  return 0;
}

int Service::take_error(Handle handle) {
  const std::lock_guard lock(parts_->gathering.mutex);
  return parts_->gathering.tickets.take_error(handle);
}

void Service::forget(Inode inode, Handle handle) {
  const std::lock_guard lock(parts_->gathering.mutex);
  parts_->gathering.forget(inode, handle);
}

void Service::changing(Inode inode) {
  const std::lock_guard lock(parts_->gathering.mutex);
  parts_->gathering.changing(inode);
}

void Service::changed(Inode inode) {
  const std::lock_guard lock(parts_->gathering.mutex);
  parts_->gathering.changed(inode);
}

void Service::mapped(Inode inode) {
  const std::lock_guard lock(parts_->gathering.mutex);
  parts_->gathering.mark_mapped(inode);
}

}  // namespace haichi::gasfs::arena
