// `haichi-gasfs write-btio`: what the ranks of one node write in BTIO's Fortran variant, as that
// program does it (one lseek(2) and one write(2) of 40 bytes a record), and whether it reads back.
// Needs no MPI: the ranks are processes that wait for each other behind each snapshot.
//
// Paper 002, section 4.3.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"
#include "gasfs/plan/btio.h"
#include "gasfs/run/commands.h"
#include "gasfs/run/daemon.h"

namespace haichi::gasfs::run {
namespace {

struct Options {
  std::string file;
  std::string size = "S";
  uint32_t nodes = 1, per_node = 4, node = 0;
  bool cyclic = false, verify = false;
};
using Bytes = std::array<char, kBtioRecord>;

/// What a record holds: its own place, so that it is known when it is read.
Bytes record_at(uint64_t offset) {
  Bytes bytes;
  bytes.fill(static_cast<char>('a' + offset / kBtioRecord % 26));
  std::memcpy(bytes.data(), &offset, sizeof offset);
  return bytes;
}

/// Where the processes meet.
class Meeting {
 public:
  explicit Meeting(unsigned processes) {
    void* shared = ::mmap(nullptr, sizeof *barrier_, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return;
    barrier_ = static_cast<pthread_barrier_t*>(shared);
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(barrier_, &attributes, processes);
  }
  void wait() {
    if (barrier_) pthread_barrier_wait(barrier_);
  }

 private:
  pthread_barrier_t* barrier_ = nullptr;
};

/// One rank, a process of its own: the errno value of what went wrong.
int write_rank(const BtioJob& job, const std::string& file, uint32_t rank, Meeting& meeting) {
  int wrong = 0;
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT, 0600);
  if (fd < 0) wrong = errno;
  for (uint32_t snapshot = 0; snapshot < job.size.snapshots; ++snapshot) {
    for (const uint64_t offset : btio_records(job, rank, snapshot)) {
      if (wrong != 0) break;
      const Bytes bytes = record_at(offset);
      if (::lseek(fd, static_cast<off_t>(offset), SEEK_SET) < 0 ||
          ::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        wrong = errno ? errno : EIO;
    }
    meeting.wait();
  }
  if (fd >= 0 && ::close(fd) != 0 && wrong == 0) wrong = errno;
  return wrong;
}

int write_all(const BtioJob& job, const Options& options) {
  const int64_t begun = now_ns();
  Meeting meeting(job.per_node);
  std::vector<pid_t> ranks;
  for (uint32_t rank = 0; rank < job.nodes * job.per_node; ++rank) {
    if (node_of(job, rank) != options.node) continue;
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(write_rank(job, options.file, rank, meeting));
    if (pid < 0) return refuse(kFailed, "no process can be made");
    ranks.push_back(pid);
  }
  int wrong = 0;
  for (const pid_t pid : ranks) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0) wrong = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
  }
  if (wrong != 0)
    return refuse(kFailed, fmt::format("writing {}: {}", options.file, std::strerror(wrong)));
  fmt::print("{:.6f}\n", static_cast<double>(now_ns() - begun) * 1e-9);
  return 0;
}

int verify(const BtioJob& job, const Options& options) {
  const Descriptor fd(::open(options.file.c_str(), O_RDONLY));
  const uint64_t n = job.size.n, size = n * n * n * job.size.snapshots * kBtioRecord;
  std::vector<char> block(kBtioRecord << 15);
  for (uint64_t at = 0; at < size;) {
    const ssize_t got = ::pread(fd.get(), block.data(), block.size(), static_cast<off_t>(at));
    if (got <= 0 || got % static_cast<ssize_t>(kBtioRecord) != 0)
      return refuse(kFailed, fmt::format("{} ends at {}, of {} bytes", options.file, at, size));
    for (size_t i = 0; i < static_cast<size_t>(got); i += kBtioRecord)
      if (std::memcmp(block.data() + i, record_at(at + i).data(), kBtioRecord) != 0)
        return refuse(kFailed, fmt::format("{} has another record at {}", options.file, at + i));
    at += static_cast<uint64_t>(got);
  }
  return 0;
}

}  // namespace

void add_write_btio(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("write-btio", "Write what BTIO's ranks of a node write.");
  command->add_option("file", options->file, "Which all nodes write.")->required();
  command->add_option("--class", options->size, "S, W, A, B, C or D.");
  command->add_option("--nodes", options->nodes);
  command->add_option("--per-node", options->per_node);
  command->add_option("--node", options->node, "Which of the nodes this is.");
  command->add_flag("--cyclic", options->cyclic, "Ranks dealt out over the nodes.");
  command->add_flag("--verify", options->verify, "Read the file of all nodes, and compare.");
  command->callback([options, &code] {
    const auto size = btio_class(options->size);
    const BtioJob job{size.value_or(BtioClass{}), options->nodes, options->per_node,
                      !options->cyclic};
    const auto sound = size ? check(job) : fail(EINVAL, "no class '{}'", options->size);
    if (!sound)
      code = refuse(kBadInput, sound.error().text);
    else
      code = options->verify ? verify(job, *options) : write_all(job, *options);
  });
}

}  // namespace haichi::gasfs::run
