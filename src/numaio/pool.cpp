#include "numaio/pool.h"

#include <sched.h>
#include <signal.h>

#include <algorithm>

#include "base/clock.h"

namespace haichi::numaio {
namespace {

// A thread looks for work as long as this before it sleeps: to wake one takes 28 us.
constexpr int64_t kSpinNs = 50'000;
constexpr size_t kStackBytes = 256 << 10;

void pause_a_little() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

struct Pool::Job {
  std::span<const std::vector<Piece>> pieces;
  const std::function<void(const Piece&, int)>& move;
  std::vector<std::atomic<size_t>> next;  // of each node
};

// Owned by the pool; the thread ends with the process, or by end_threads(). Whoever takes `job`
// away, the thread or the caller who no longer needs it, counts it as done.
struct Pool::Worker {
  Pool* pool;
  int node;
  pthread_t thread = {};
  std::atomic<Job*> job = nullptr;

  // In place of a job: there will be none any more.
  static Job* no_more() { return reinterpret_cast<Job*>(uintptr_t{1}); }

  Job* wait_for_job() {
    const int64_t until = now_ns() + kSpinNs;
    for (int looks = 0; job.load(std::memory_order_relaxed) == nullptr; ++looks) {
      if (looks % 64 == 63 && now_ns() > until) {
        job.wait(nullptr);
        break;
      }
      pause_a_little();
    }
    return job.exchange(nullptr, std::memory_order_acquire);
  }
};

Pool::Pool(HostNodes nodes) : nodes_(std::move(nodes)), workers_(nodes_.cpus.size()) {}
Pool::~Pool() = default;

void* Pool::work(void* argument) {
  auto& self = *static_cast<Worker*>(argument);
  for (;;) {
    Job* const job = self.wait_for_job();
    if (job == nullptr) continue;
    if (job == Worker::no_more()) return nullptr;
    std::atomic<int>& running = self.pool->running_;
    self.pool->take_pieces(*job, self.node);
    if (running.fetch_sub(1, std::memory_order_release) == 1) running.notify_all();
  }
}

Pool::Worker* Pool::worker(int node, int number) {
  auto& known = workers_[size_t(node)];
  if (size_t(number) < known.size()) return known[size_t(number)].get();
  const std::vector<int>& cpus = nodes_.cpus[size_t(node)];
  if (cpus.empty()) return nullptr;
  const int most = *std::max_element(cpus.begin(), cpus.end()) + 1;
  cpu_set_t* const set = CPU_ALLOC(size_t(most));
  if (set == nullptr) return nullptr;
  const size_t bytes = CPU_ALLOC_SIZE(size_t(most));
  CPU_ZERO_S(bytes, set);
  for (const int cpu : cpus) CPU_SET_S(size_t(cpu), bytes, set);
  auto made = std::make_unique<Worker>();
  made->pool = this;
  made->node = node;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setaffinity_np(&attributes, bytes, set);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&made->thread, &attributes, work, made.get()) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  CPU_FREE(set);
  if (!started) return nullptr;
  pthread_setname_np(made->thread, "haichi-numaio");
  known.push_back(std::move(made));
  return known.back().get();
}

void Pool::end_threads() {
  for (auto& node : workers_) {
    for (const auto& each : node) {
      each->job.store(Worker::no_more(), std::memory_order_release);
      each->job.notify_one();
    }
    for (const auto& each : node) pthread_join(each->thread, nullptr);
    node.clear();
  }
}

bool Pool::hot() const { return now_ns() < warm_until_ns_.load(std::memory_order_relaxed); }

void Pool::take_pieces(Job& job, int node) {
  const std::vector<Piece>& own = job.pieces[size_t(node)];
  for (size_t i; (i = job.next[size_t(node)].fetch_add(1, std::memory_order_relaxed)) < own.size();)
    job.move(own[i], node);
}

// The kernel may move the caller, which is bound to no node, at any time.
void Pool::take_pieces_here(Job& job, int caller_node) {
  for (int node = caller_node;; node = std::min(node_now(), int(job.pieces.size()) - 1)) {
    const std::vector<Piece>& own = job.pieces[size_t(node)];
    const size_t i = job.next[size_t(node)].fetch_add(1, std::memory_order_relaxed);
    if (i >= own.size()) return;
    job.move(own[i], node);
  }
}

int Pool::run(const Work& work, const std::function<void(const Piece&, int node)>& move) {
  const auto& [pieces, threads, caller_node] = work;
  Job job{pieces, move, std::vector<std::atomic<size_t>>(pieces.size())};
  const int nodes = int(pieces.size());
  std::vector<int> working(pieces.size(), 0);
  std::vector<Worker*> woken;
  for (int node = 0; node < nodes; ++node) {
    const auto own = size_t(node);
    const bool here = node == caller_node && !pieces[own].empty();
    if (here) working[own] = 1;
    const int wanted = std::min(threads[own], int(pieces[own].size()));
    for (int number = 0; working[own] < wanted; ++number) {
      Worker* const each = worker(node, number);
      if (each == nullptr) break;
      woken.push_back(each);
      ++working[own];
    }
  }
  running_.store(int(woken.size()), std::memory_order_relaxed);
  for (Worker* each : woken) {
    each->job.store(&job, std::memory_order_release);
    each->job.notify_one();
  }
  take_pieces_here(job, caller_node);
  for (int node = 0; node < nodes; ++node)
    if (working[size_t(node)] == 0 || node == caller_node) take_pieces(job, node);
  const int late = call_off(job, woken);
  wait_for_all();
  warm_until_ns_.store(now_ns() + kSpinNs / 2, std::memory_order_relaxed);
  return int(woken.size()) - late + 1;
}

// A thread that has not woken yet, and for which nothing is left, is not waited for.
int Pool::call_off(Job& job, const std::vector<Worker*>& woken) {
  int late = 0;
  for (Worker* each : woken) {
    const auto node = size_t(each->node);
    if (job.next[node].load(std::memory_order_relaxed) < job.pieces[node].size()) continue;
    Job* mine = &job;
    if (each->job.compare_exchange_strong(mine, nullptr)) ++late;
  }
  running_.fetch_sub(late, std::memory_order_relaxed);
  return late;
}

void Pool::wait_for_all() {
  const int64_t until = now_ns() + kSpinNs;
  for (int left; (left = running_.load(std::memory_order_acquire)) > 0;) {
    if (now_ns() > until)
      running_.wait(left);
    else
      pause_a_little();
  }
}

}  // namespace haichi::numaio
