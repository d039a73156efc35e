#include "mpi/node/node_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/os.h"
#include "plan/issue_order.h"
#include "plan/small_messages.h"

namespace haichi::mpi {

// At the begin of the memory, in a page of its own.
struct NodeMemory::Header {
  int64_t nonce;
  alignas(64) std::atomic<int> arrived;
  std::atomic<int> sleepers;
  alignas(64) std::atomic<unsigned> meetings;  // held so far; a futex
};

// What the node's first rank tells the others.
struct NodeMemory::Offer {
  int64_t pid = 0;
  int64_t fd = -1;  // -1: nothing is to be opened
  int64_t bytes = 0;
  int64_t nonce = 0;
  bool kept = false;  // it is what the process should have kept
};

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kZeros = 16 << 10;  // written at once
constexpr size_t kMostKept = 64 << 20;
constexpr int kTag = 3;  // on the file's own communicator
constexpr std::string_view kWhat = "sharing memory on a node";
// A sleeping rank looks after the MPI library's messages in between.
constexpr timespec kNap = {0, 300'000};

void futex(std::atomic<unsigned>& word, int operation, unsigned value, const timespec* timeout) {
  syscall(SYS_futex, reinterpret_cast<unsigned*>(&word), operation, value, timeout, nullptr, 0);
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto raw = std::as_bytes(std::span(&value, 1));
  return {raw.begin(), raw.end()};
}

}  // namespace

NodeMemory::~NodeMemory() { munmap(header_, kPage + bytes_); }

std::byte* NodeMemory::data() const { return reinterpret_cast<std::byte*>(header_) + kPage; }

// A read maps the pages around it too, as far as they hold bytes: a fault for 16 of them.
std::unique_ptr<NodeMemory> NodeMemory::map(int fd, size_t bytes, int ranks) {
  static_assert(sizeof(Header) <= kPage && std::atomic<unsigned>::is_always_lock_free);
  void* const at = mmap(nullptr, kPage + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return nullptr;
  const volatile std::byte* const first = static_cast<std::byte*>(at);
  for (size_t page = 0; page < kPage + bytes; page += kPage) (void)first[page];
  return std::unique_ptr<NodeMemory>(new NodeMemory(static_cast<Header*>(at), bytes, ranks));
}

namespace {

// Zeros that are written: allocating pages only (posix_fallocate) and having the kernel map them
// (MAP_POPULATE) takes twice as long. Going beyond what a file may have (setrlimit(2)) would end
// the program with SIGXFSZ.
bool give_pages(int fd, size_t bytes) {
  rlimit most;
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes > most.rlim_cur) return false;
  const std::vector<std::byte> zeros(kZeros);
  for (size_t at = 0; at < bytes; at += kZeros) {
    const auto part = std::span(zeros).first(std::min(kZeros, bytes - at));
    if (!write_fully(real_os(), fd, part, int64_t(at))) return false;
  }
  return true;
}

}  // namespace

// The descriptor stays open, in `offer`, until the others have opened it too.
std::unique_ptr<NodeMemory> NodeMemory::create(size_t bytes, int ranks, Offer& offer) {
  const int fd = memfd_create("haichi", MFD_CLOEXEC);
  if (fd < 0) return nullptr;
  auto memory = give_pages(fd, kPage + bytes) ? map(fd, bytes, ranks) : nullptr;
  if (!memory) {
    close(fd);
    return nullptr;
  }
  offer = {getpid(), fd, int64_t(bytes), now_ns(), false};
  memory->header_->nonce = offer.nonce;
  return memory;
}

namespace {

struct Kept {
  std::mutex mutex;
  std::unique_ptr<NodeMemory> memory;
};

Kept& kept() {
  static Kept* const instance = new Kept;  // never destroyed: files may be closed very late
  return *instance;
}

}  // namespace

void NodeMemory::keep(std::unique_ptr<NodeMemory> memory) {
  if (!memory || memory->size() > kMostKept) return;
  Kept& k = kept();
  const std::lock_guard guard(k.mutex);
  k.memory.swap(memory);
}

// `nonce` 0: any of that size.
std::unique_ptr<NodeMemory> NodeMemory::take_kept(size_t bytes, int ranks, int64_t nonce) {
  Kept& k = kept();
  const std::lock_guard guard(k.mutex);
  const NodeMemory* const memory = k.memory.get();
  if (!memory || memory->size() < bytes || memory->ranks_ != ranks) return nullptr;
  if (nonce != 0 && memory->header_->nonce != nonce) return nullptr;
  return std::move(k.memory);
}

// What has that number may be another process, seen from another container: the nonce tells.
std::unique_ptr<NodeMemory> NodeMemory::open(const Offer& offer, int ranks) {
  if (offer.kept) return take_kept(size_t(offer.bytes), ranks, offer.nonce);
  if (offer.fd < 0) return nullptr;
  const std::string path = fmt::format("/proc/{}/fd/{}", offer.pid, offer.fd);
  const int fd = real_os().open(path.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  struct stat facts;
  const bool fits = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) &&
                    facts.st_size == off_t(kPage) + offer.bytes;
  auto memory = fits ? map(fd, size_t(offer.bytes), ranks) : nullptr;
  close(fd);
  if (memory && memory->header_->nonce != offer.nonce) return nullptr;
  return memory;
}

// One round of talks: the first rank offers, the others say whether they have it, the first rank
// says whether all have.
class NodeMemory::Talks {
 public:
  Talks(MPI_Comm comm, const placement::Placement& placement, int rank)
      : members_(placement.ranks_on(placement.node_of(rank))),
        rank_(rank),
        order_(placement, plan::IssueOrder::rank, rank),
        executor_(comm, kTag, nullptr) {}
  int ranks() const { return int(members_.size()); }
  bool leads() const { return rank_ == members_[0]; }

  /// From the first rank to the others.
  template <class T>
  Status tell(T& value) {
    plan::SmallMessages messages(order_);
    std::vector<std::byte>* received = nullptr;
    if (leads())
      for (const int peer : members_.subspan(1)) messages.send_to(peer, bytes_of(value));
    else
      received = &messages.receive_from(members_[0], sizeof value);
    const Status done = executor_.run_or_abort(messages, messages, kWhat);
    if (done && received) memcpy(&value, received->data(), sizeof value);
    return done;
  }

  /// True on the first rank if it is on all ranks.
  Result<bool> all(bool mine) {
    plan::SmallMessages messages(order_);
    std::vector<std::vector<std::byte>*> received;
    if (leads())
      for (const int peer : members_.subspan(1))
        received.push_back(&messages.receive_from(peer, sizeof mine));
    else
      messages.send_to(members_[0], bytes_of(mine));
    if (auto done = executor_.run_or_abort(messages, messages, kWhat); !done)
      return tl::unexpected(done.error());
    for (const auto* answer : received) mine = mine && (*answer)[0] == std::byte{1};
    return mine;
  }

 private:
  const std::span<const int> members_;
  const int rank_;
  const plan::PeerOrder order_;
  Executor executor_;
};

Result<std::unique_ptr<NodeMemory>> NodeMemory::make(MPI_Comm comm,
                                                     const placement::Placement& placement,
                                                     int rank, size_t bytes, Origin origin) {
  Talks talks(comm, placement, rank);
  const int ranks = talks.ranks();
  for (bool may_be_kept = origin != Origin::fresh;; may_be_kept = false) {
    std::unique_ptr<NodeMemory> memory;
    Offer offer;
    if (talks.leads()) {
      if (may_be_kept) memory = take_kept(bytes, ranks, 0);
      if (memory)
        offer = {getpid(), -1, int64_t(memory->size()), memory->header_->nonce, true};
      else
        memory = create(bytes, ranks, offer);
    }
    if (auto told = talks.tell(offer); !told) return tl::unexpected(told.error());
    if (!talks.leads()) memory = open(offer, ranks);
    auto all = talks.all(memory != nullptr);
    if (talks.leads() && offer.fd >= 0) close(int(offer.fd));
    if (!all) return tl::unexpected(all.error());
    if (auto told = talks.tell(*all); !told) return tl::unexpected(told.error());
    if (*all) return memory;
    if (!offer.kept) return fail(ENOMEM, "the ranks of the node cannot have memory in common");
  }
}

void NodeMemory::arrive() {
  meeting_ = header_->meetings.load(std::memory_order_relaxed);
  if (header_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < ranks_) return;
  header_->arrived.store(0, std::memory_order_relaxed);
  header_->meetings.store(meeting_ + 1);
  if (header_->sleepers.load() > 0) futex(header_->meetings, FUTEX_WAKE, INT_MAX, nullptr);
}

bool NodeMemory::all_here() {
  return header_->meetings.load(std::memory_order_acquire) != meeting_;
}

// The kernel compares the word once more before it sleeps, and the sleeper has said so before: no
// wake-up is missed.
void NodeMemory::sleep() {
  header_->sleepers.fetch_add(1);
  futex(header_->meetings, FUTEX_WAIT, meeting_, &kNap);
  header_->sleepers.fetch_sub(1);
}

}  // namespace haichi::mpi
