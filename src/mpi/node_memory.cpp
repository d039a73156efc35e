#include "mpi/node_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/os.h"
#include "mpi/small_messages.h"

namespace haichi::mpi {

// At the begin of the memory, in a page of its own.
struct NodeMemory::Header {
  int64_t nonce;
  alignas(64) std::atomic<int> arrived;
  alignas(64) std::atomic<unsigned> meetings;
};

// What the node's first rank tells the others.
struct NodeMemory::Offer {
  int64_t pid = 0;
  int64_t fd = -1;  // -1: there is nothing to open
  int64_t nonce = 0;
};

namespace {

constexpr size_t kPage = 4096;
constexpr int kTag = 3;  // on the file's own communicator

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto raw = std::as_bytes(std::span(&value, 1));
  return {raw.begin(), raw.end()};
}

}  // namespace

NodeMemory::~NodeMemory() { munmap(header_, kPage + bytes_); }

std::byte* NodeMemory::data() const { return reinterpret_cast<std::byte*>(header_) + kPage; }

std::unique_ptr<NodeMemory> NodeMemory::map(int fd, size_t bytes, int ranks) {
  static_assert(sizeof(Header) <= kPage && std::atomic<unsigned>::is_always_lock_free);
  void* const at = mmap(nullptr, kPage + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return nullptr;
  return std::unique_ptr<NodeMemory>(new NodeMemory(static_cast<Header*>(at), bytes, ranks));
}

// The descriptor stays open, in `offer`, until the others have opened it too.
std::unique_ptr<NodeMemory> NodeMemory::create(size_t bytes, int ranks, Offer& offer) {
  const int fd = memfd_create("haichi", MFD_CLOEXEC);
  if (fd < 0) return nullptr;
  auto memory = posix_fallocate(fd, 0, off_t(kPage + bytes)) == 0 ? map(fd, bytes, ranks) : nullptr;
  if (!memory) {
    close(fd);
    return nullptr;
  }
  offer = {getpid(), fd, now_ns()};
  memory->header_->nonce = offer.nonce;
  return memory;
}

// What has that number may be another process, seen from another container: the nonce tells.
std::unique_ptr<NodeMemory> NodeMemory::open(const Offer& offer, size_t bytes, int ranks) {
  if (offer.fd < 0) return nullptr;
  const std::string path = fmt::format("/proc/{}/fd/{}", offer.pid, offer.fd);
  const int fd = real_os().open(path.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  struct stat facts;
  const bool fits =
      fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == off_t(kPage + bytes);
  auto memory = fits ? map(fd, bytes, ranks) : nullptr;
  close(fd);
  if (memory && memory->header_->nonce != offer.nonce) return nullptr;
  return memory;
}

Result<std::unique_ptr<NodeMemory>> NodeMemory::make(MPI_Comm comm,
                                                     const placement::Placement& placement,
                                                     int rank, size_t bytes) {
  const auto members = placement.ranks_on(placement.node_of(rank));
  const plan::PeerOrder order(placement, plan::IssueOrder::rank, rank);
  Executor executor(comm, kTag, nullptr);
  auto run = [&](SmallMessages& messages) { return executor.run(messages, messages); };
  const int first = members[0], ranks = int(members.size());
  std::unique_ptr<NodeMemory> memory;
  SmallMessages offers(order), answers(order), verdicts(order);
  char all = 1;
  if (rank == first) {
    Offer offer;
    memory = create(bytes, ranks, offer);
    std::vector<std::vector<std::byte>*> received;
    for (const int peer : members.subspan(1)) {
      offers.send_to(peer, bytes_of(offer));
      received.push_back(&answers.receive_from(peer, 1));
    }
    if (auto sent = run(offers); !sent) return tl::unexpected(sent.error());
    if (auto got = run(answers); !got) return tl::unexpected(got.error());
    if (offer.fd >= 0) close(int(offer.fd));
    all = memory != nullptr;
    for (const auto* answer : received) all = all && (*answer)[0] == std::byte{1};
    for (const int peer : members.subspan(1)) verdicts.send_to(peer, bytes_of(all));
    if (auto sent = run(verdicts); !sent) return tl::unexpected(sent.error());
  } else {
    std::vector<std::byte>& received = offers.receive_from(first, sizeof(Offer));
    if (auto got = run(offers); !got) return tl::unexpected(got.error());
    Offer offer;
    memcpy(&offer, received.data(), sizeof offer);
    memory = open(offer, bytes, ranks);
    answers.send_to(first, bytes_of(char(memory != nullptr)));
    if (auto sent = run(answers); !sent) return tl::unexpected(sent.error());
    std::vector<std::byte>& verdict = verdicts.receive_from(first, 1);
    if (auto got = run(verdicts); !got) return tl::unexpected(got.error());
    all = char(verdict[0]);
  }
  if (!all) return fail(ENOMEM, "the ranks of the node cannot have memory in common");
  return memory;
}

void NodeMemory::arrive() {
  meeting_ = header_->meetings.load(std::memory_order_relaxed);
  if (header_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < ranks_) return;
  header_->arrived.store(0, std::memory_order_relaxed);
  header_->meetings.store(meeting_ + 1, std::memory_order_release);
}

bool NodeMemory::all_here() {
  return header_->meetings.load(std::memory_order_acquire) != meeting_;
}

}  // namespace haichi::mpi
