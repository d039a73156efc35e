#include "numaio/engine.h"

#include <numaif.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "base/clock.h"
#include "base/os.h"
#include "base/settings.h"
#include "machine/profile.h"
#include "numaio/host_nodes.h"
#include "numaio/page_query.h"
#include "numaio/pool.h"

namespace haichi::numaio {
namespace {

// A thread that loses its processor keeps the others waiting for one piece.
constexpr int64_t kMostPieceBytes = 1 << 20, kLeastPieceBytes = 128 << 10;
constexpr int kPiecesPerThread = 8;
constexpr size_t kTrialKinds = 16, kTrialSizes = 48;
// From here on (32 MiB) a whole call is worth more than a try, and a part of it tells enough.
constexpr size_t kLargeSize = 26;
constexpr int64_t kPlainShare = 32, kLeastPlain = 2 << 20, kMostPlain = 8 << 20;
constexpr size_t kMostCrews = 16;  // of different sets of processors

std::atomic<int> most_threads = 0;
std::atomic<bool> always = false, holds_signals = true;
std::atomic<int64_t> cold_bytes = Options{}.cold_bytes, hot_bytes = Options{}.hot_bytes;

thread_local How last_how;

// A set of processors as the kernel has it, a bit each.
struct Processors {
  std::array<unsigned char, 1024> bits;
  size_t bytes;
  bool operator==(const Processors& other) const {
    return bytes == other.bytes && memcmp(bits.data(), other.bits.data(), bytes) == 0;
  }
};

// Those that the calling thread may run on; by the system call, as the C library would clear all
// the rest of the set, too.
void processors_now(Processors& set) {
  const long got = syscall(SYS_sched_getaffinity, 0, set.bits.size(), set.bits.data());
  set.bytes = got > 0 ? size_t(got) : 0;
}

// The profile that HAICHI_MACHINE names, if it tells of a machine of as many nodes.
machine::NumaPaths paths_of(const HostNodes& nodes) {
  if (const char* const path = getenv("HAICHI_MACHINE"); path != nullptr && *path != '\0') {
    const auto text = read_file(path);
    const auto profile = text ? machine::parse_profile(*text)
                              : Result<machine::Profile>(tl::unexpected(text.error()));
    if (profile && profile->numa && profile->numa->nodes() == nodes.nodes()) {
      machine::NumaPaths paths = *profile->numa;
      for (int node = 0; node < nodes.nodes(); ++node)
        paths.set_cores(node, int(nodes.cpus[size_t(node)].size()));
      return paths;
    }
  }
  return machine::assumed_paths(nodes.cores(), nodes.distances);
}

// Whether new memory comes to be on the node of whoever touches it.
bool default_policy() {
  int mode = MPOL_DEFAULT;
  return get_mempolicy(&mode, nullptr, 0, nullptr, 0) != 0 || mode == MPOL_DEFAULT;
}

bool has_untouched(const PageMap& map) {
  return std::any_of(map.segments.begin(), map.segments.end(),
                     [](const Segment& each) { return each.node == kUntouched; });
}

PageMap map_of(const Memory& memory, int64_t& lead) {
  const auto begin = reinterpret_cast<uintptr_t>(memory.begin);
  lead = int64_t(begin % uintptr_t(page_size()));
  const int64_t pages = (lead + memory.bytes + page_size() - 1) / page_size();
  const auto map = map_pages(pages, memory_pages(begin - uintptr_t(lead), page_size()));
  // Where the kernel doesn't tell, the memory may be untouched: for the caller's node alone.
  return map ? *map : PageMap{{{0, pages, kUntouched}}, 0};
}

}  // namespace

// Threads and plans for one set of processors.
struct Turn::Crew {
  Processors set;
  Pool pool;
  Splitter splitter;
  std::array<Trial, kTrialKinds * kTrialSizes> trials;

  // Of calls of one kind and size.
  Trial* trial(uint64_t kind, int64_t bytes) {
    const size_t size = std::min(size_of(bytes), kTrialSizes - 1);
    return &trials[kind * 0x9e3779b97f4a7c15u % kTrialKinds * kTrialSizes + size];
  }
  static size_t size_of(int64_t bytes) { return size_t(std::bit_width(uint64_t(bytes))); }

  Crew(const HostNodes& nodes, const Processors& allowed)
      : set(allowed), pool(nodes), splitter(paths_of(nodes)) {}
};

struct Turn::Signals {
  sigset_t before;
  bool held = holds_signals.load();
  Signals() {
    if (!held) return;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~Signals() {
    if (held) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
};

// Never destroyed: the threads use it up to the end of the process.
struct Engine {
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  std::vector<std::unique_ptr<Turn::Crew>> crews;

  std::atomic<Turn::Crew*> latest = nullptr;

  // The crew of the calling thread's processors; null if there are too many of such sets.
  Turn::Crew* crew() {
    Processors allowed;
    processors_now(allowed);
    for (const auto& each : crews)
      if (each->set == allowed) return each.get();
    if (crews.size() == kMostCrews) return nullptr;
    crews.push_back(std::make_unique<Turn::Crew>(this_hosts_nodes(), allowed));
    return crews.back().get();
  }
};

namespace {

std::atomic<Engine*> engine = nullptr;

// A child has none of the threads, and may have been made while one was at work: it begins anew.
void forget_engine() { engine.store(nullptr, std::memory_order_relaxed); }
// When this code is loaded: a static variable of a function, which a thread is about to set while
// another one forks, is never set in the child, who waits for that.
[[maybe_unused]] const int forgets = pthread_atfork(nullptr, nullptr, forget_engine);

Engine& this_engine() {
  Engine* known = engine.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  auto made = std::make_unique<Engine>();
  if (engine.compare_exchange_strong(known, made.get())) return *made.release();
  return *known;
}

// Whether threads are likely to be awake still, whosever they are.
bool hot() {
  const Engine* const known = engine.load(std::memory_order_acquire);
  const Turn::Crew* const latest = known != nullptr ? known->latest.load() : nullptr;
  return latest != nullptr && latest->pool.hot();
}

void note(std::string_view why, int64_t bytes) { last_how = How{1, 1, 0, bytes, why}; }

}  // namespace

Options options() {
  return {most_threads.load(), cold_bytes.load(), hot_bytes.load(), always.load()};
}

void set_options(const Options& options) {
  most_threads.store(options.threads);
  cold_bytes.store(options.cold_bytes);
  hot_bytes.store(options.hot_bytes);
  always.store(options.always);
}

void leave_signals_to_callers() { holds_signals.store(false); }

void end_threads() {
  Engine* const known = engine.load(std::memory_order_acquire);
  if (known == nullptr) return;
  while (known->busy.test_and_set(std::memory_order_acquire)) sched_yield();
  for (const auto& each : known->crews) each->pool.end_threads();
  known->busy.clear(std::memory_order_release);
}

How& last() { return last_how; }

Turn::Turn(Crew& crew, std::unique_ptr<Signals> signals, int64_t bytes, uint64_t kind)
    : crew_(crew),
      signals_(std::move(signals)),
      trial_(Crew::size_of(bytes) < kLargeSize ? crew.trial(kind, bytes) : nullptr),
      kind_(kind),
      bytes_(bytes),
      begin_ns_(now_ns()) {}

bool Turn::too_small(int64_t bytes) {
  const int64_t hot_least = hot_bytes.load(), cold_least = cold_bytes.load();
  if (bytes >= std::max(hot_least, cold_least) || (bytes >= hot_least && hot())) return false;
  note("too small to be split", bytes);
  return true;
}

std::unique_ptr<Turn> Turn::take(int64_t bytes, uint64_t kind) {
  if (too_small(bytes)) return nullptr;
  if (most_threads.load() == 1) return note("one thread allowed", bytes), nullptr;
  if (is_disabled()) return note("HAICHI_DISABLE is set", bytes), nullptr;
  auto signals = std::make_unique<Signals>();
  Engine& own = this_engine();
  if (own.busy.test_and_set(std::memory_order_acquire))
    return note("another transfer is under way", bytes), nullptr;
  Crew* const crew = own.crew();
  std::unique_ptr<Turn> turn;
  if (crew == nullptr)
    note("too many sets of processors", bytes);
  else if (crew->pool.nodes().processors() < 2)
    note("one processor allowed", bytes);
  else
    turn.reset(new Turn(*crew, std::move(signals), bytes, kind));
  if (turn == nullptr) own.busy.clear(std::memory_order_release);
  return turn;
}

Turn::~Turn() {
  if (trial_ != nullptr) trial_->note(split_, double(now_ns() - begin_ns_) / double(bytes_));
  this_engine().busy.clear(std::memory_order_release);
}

int64_t Turn::plain_part() {
  // On several nodes the caller is far from some of it.
  if (trial_ != nullptr || always.load() || crew_.pool.nodes().nodes() > 1) return 0;
  trial_ = crew_.trial(kind_, bytes_);
  if (!trial_->wants_plain_part()) return 0;
  return std::clamp(bytes_ / kPlainShare, kLeastPlain, kMostPlain);
}

void Turn::began_plainly(int64_t bytes) {
  const int64_t now = now_ns();
  trial_->note(false, double(now - begin_ns_) / double(bytes));
  begin_ns_ = now;
  bytes_ -= bytes;
}

bool Turn::pays() const {
  if (trial_ == nullptr || trial_->split() || always.load()) return true;
  note("one thread is as fast, by trial", bytes_);
  return false;
}

int Turn::here() const { return std::min(node_now(), crew_.pool.nodes().nodes() - 1); }

void Turn::carry_out(const Work& work, How how,
                     const std::function<void(const Piece&, int node)>& move) {
  how.nodes = 0;
  for (const auto& each : work.pieces) how.nodes += each.empty() ? 0 : 1;
  how.threads = crew_.pool.run(work, move);
  this_engine().latest.store(&crew_);
  split_ = true;
  last_how = how;
}

bool Turn::run(const Transfer& transfer, const std::function<void(const Piece&, int node)>& move) {
  const HostNodes& nodes = crew_.pool.nodes();
  const int64_t bytes = transfer.memory.bytes;
  if (!pays()) return false;
  const int here = this->here();
  PageMap memory, other;
  int64_t memory_lead = 0, other_lead = 0;
  if (nodes.nodes() == 1) {
    memory.segments = other.segments = {{0, bytes / page_size() + 2, 0}};
  } else {
    memory = map_of(transfer.memory, memory_lead);
    if (transfer.other) other = transfer.other(other_lead);
    if (!transfer.reads_memory && has_untouched(memory) && !default_policy())
      return note("new memory under a policy of the caller's own", bytes), false;
  }
  const bool reads = transfer.reads_memory;
  const Demand demand = demand_of(
      {bytes, reads ? &memory : &other, reads ? &other : &memory, reads ? memory_lead : other_lead,
       reads ? other_lead : memory_lead, page_size(), here},
      nodes.nodes());
  Split split = crew_.splitter.plan(demand.loads, most_threads.load());
  int threads = 0;
  for (const int each : split.threads) threads += each;
  if (threads < 2 && split.threads[size_t(here)] == threads)
    return note("one thread is as fast", bytes), false;
  const int64_t piece =
      std::clamp(bytes / (int64_t{kPiecesPerThread} * threads), kLeastPieceBytes, kMostPieceBytes);
  const auto pieces = cut(demand, split, nodes.nodes(), transfer.origin, transfer.align, piece);
  const auto local = int64_t(split.route_bytes[size_t(machine::Route::local)]);
  carry_out({pieces, split.threads, here}, {0, 0, local, bytes, "split by the nodes of its pages"},
            move);
  return true;
}

bool Turn::run_each(const std::vector<int>& nodes, const std::function<void(int number)>& task) {
  if (!pays()) return false;
  const HostNodes& host = crew_.pool.nodes();
  std::vector<std::vector<Piece>> pieces(static_cast<size_t>(host.nodes()));
  for (size_t number = 0; number < nodes.size(); ++number)
    pieces[size_t(nodes[number])].push_back({int64_t(number), 1});
  std::vector<int> threads = host.cores();
  const int limit = most_threads.load();
  for (int& each : threads)
    if (limit > 0) each = std::min(each, limit);
  carry_out({pieces, threads, here()}, {0, 0, 0, bytes_, "several files at the same time"},
            [&](const Piece& piece, int) { task(int(piece.begin)); });
  return true;
}

int Turn::node_of(const Memory& memory) const {
  const HostNodes& nodes = crew_.pool.nodes();
  if (nodes.nodes() == 1) return 0;
  int64_t lead = 0;
  std::vector<int64_t> pages(static_cast<size_t>(nodes.nodes()), 0);
  for (const Segment& each : map_of(memory, lead).segments)
    if (each.node >= 0 && each.node < nodes.nodes()) pages[size_t(each.node)] += each.pages;
  const auto most = std::max_element(pages.begin(), pages.end());
  const int node = int(most - pages.begin());
  return *most > 0 && !nodes.cpus[size_t(node)].empty() ? node : here();
}

}  // namespace haichi::numaio
