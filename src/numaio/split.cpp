#include "numaio/split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace haichi::numaio {
namespace {

constexpr double kGiga = 1e9;
// Time that is given for fewer bytes between nodes, tried in turns.
constexpr double kSlacks[] = {1.002, 1.015};
constexpr double kNothing = 0.5;  // bytes

// Calls use(node, part) for each node that memory at `where` belongs to.
template <class Use>
void for_each_node(int where, int nodes, const Use& use) {
  if (where >= 0) use(where, 1.0);
  if (where != kSpread) return;
  for (int node = 0; node < nodes; ++node) use(node, 1.0 / nodes);
}

// Calls use(node, bytes) for each node but the thread's own that serves a byte of the load to it.
template <class Use>
void for_each_server(const Load& load, int thread, int nodes, double write_weight, const Use& use) {
  if (load.source == kSpread || load.target == kSpread) {
    for (int m = 0; m < nodes; ++m) {
      const double read = load.source == kSpread ? 1.0 / nodes : load.source == m ? 1 : 0;
      const double written = load.target == kSpread ? 1.0 / nodes : load.target == m ? 1 : 0;
      if (m != thread && read + written > 0) use(m, read + written * write_weight);
    }
    return;
  }
  const bool reads = load.source >= 0 && load.source != thread;
  const bool writes = load.target >= 0 && load.target != thread;
  if (reads && writes && load.source == load.target) return use(load.source, 1 + write_weight);
  if (reads) use(load.source, 1.0);
  if (writes) use(load.target, write_weight);
}

int home_of(const Load& load) {
  if (load.only >= 0) return load.only;
  return load.target >= 0 ? load.target : load.source >= 0 ? load.source : -1;
}

}  // namespace

Splitter::Splitter(machine::NumaPaths paths) : paths_(std::move(paths)) {
  const auto n = size_t(paths_.nodes());
  time_.resize(n);
  memory_.resize(n);
  served_.resize(n);
  fixed_use_.resize(n);
}

// One thread's GB/s; over all nodes of what is spread the times add up.
double Splitter::rate(const Load& load, int thread) const {
  const int nodes = paths_.nodes();
  const auto from = [&](int source) {
    if (load.target != kSpread)
      return 1 / paths_.thread_gbs(source, thread, load.target >= 0 ? load.target : thread);
    double sum = 0;
    for (int d = 0; d < nodes; ++d) sum += 1 / paths_.thread_gbs(source, thread, d);
    return sum / nodes;
  };
  if (load.source != kSpread) return 1 / from(load.source >= 0 ? load.source : thread);
  double sum = 0;
  for (int s = 0; s < nodes; ++s) sum += from(s);
  return nodes / sum;
}

void Splitter::prepare(std::span<const Load> loads) {
  const auto n = size_t(paths_.nodes());
  needs_.resize(loads.size());
  rates_.resize(loads.size() * n);
  orders_.resize(loads.size() * n);
  shares_.resize(loads.size() * n);
  std::fill(fixed_use_.begin(), fixed_use_.end(), 0);
  for (size_t k = 0; k < loads.size(); ++k) {
    const Load& load = loads[k];
    Need& need = needs_[k];
    need.home = home_of(load);
    need.follows =
        (load.source == kFollows ? 1 : 0) + (load.target == kFollows ? paths_.write_weight() : 0);
    double* const own = &rates_[k * n];
    for (size_t t = 0; t < n; ++t) own[t] = rate(load, int(t));
    int* const order = &orders_[k * n];
    for (size_t t = 0; t < n; ++t) {
      // Insertion: a handful of nodes, most of them in order already.
      size_t at = t;
      for (; at > 0 && own[order[at - 1]] < own[t]; --at) order[at] = order[at - 1];
      order[at] = int(t);
    }
    need.order = order;
    for_each_node(load.source, int(n),
                  [&](int m, double part) { fixed_use_[size_t(m)] += part * load.bytes; });
    for_each_node(load.target, int(n), [&](int m, double part) {
      fixed_use_[size_t(m)] += part * load.bytes * paths_.write_weight();
    });
  }
}

bool Splitter::may_move(const Load& load, size_t thread) const {
  return load.only >= 0 ? load.only == int(thread) : paths_.cores(int(thread)) > 0;
}

// Amounts are in GB. The resources are the nodes' threads, controllers and links.
double Splitter::least_seconds(std::span<const Load> loads) {
  const auto n = size_t(paths_.nodes());
  std::vector<double>& fixed = time_;  // of all resources
  fixed.assign(3 * n, 0);
  for (size_t m = 0; m < n; ++m) fixed[n + m] = fixed_use_[m] / (paths_.memory_gbs(int(m)) * kGiga);
  programme_.begin(fixed);
  for (size_t k = 0; k < loads.size(); ++k) {
    const Load& load = loads[k];
    programme_.add_load(load.bytes / kGiga);
    for (size_t rank = 0; rank < n; ++rank) {
      const auto t = size_t(needs_[k].order[rank]);
      if (!may_move(load, t)) continue;
      programme_.add_column();
      programme_.add_use(t, 1 / (rates_[k * n + t] * std::max(paths_.cores(int(t)), 1)));
      if (needs_[k].follows > 0)
        programme_.add_use(n + t, needs_[k].follows / paths_.memory_gbs(int(t)));
      for_each_server(load, int(t), int(n), paths_.write_weight(), [&](int m, double weight) {
        programme_.add_use(2 * n + size_t(m), weight / paths_.served_gbs(m));
      });
    }
  }
  const double seconds = programme_.solve();
  size_t column = 0;
  std::fill(shares_.begin(), shares_.end(), 0);
  for (size_t k = 0; k < loads.size(); ++k)
    for (size_t rank = 0; rank < n; ++rank) {
      const int t = needs_[k].order[rank];
      if (may_move(loads[k], size_t(t))) share(k, t) = programme_.carried(column++) * kGiga;
    }
  time_.resize(n);
  return seconds;
}

// Bytes of load k that the threads of a node can still take.
double Splitter::room(const Load& load, size_t k, int thread) const {
  if (!may_move(load, size_t(thread))) return 0;
  const auto t = size_t(thread);
  double most = time_[t] * rates_[k * size_t(paths_.nodes()) + t] * kGiga;
  if (needs_[k].follows > 0) most = std::min(most, memory_[t] / needs_[k].follows);
  for_each_server(load, thread, paths_.nodes(), paths_.write_weight(), [&](int m, double weight) {
    most = std::min(most, served_[size_t(m)] / weight);
  });
  return most;
}

void Splitter::give(const Load& load, size_t k, int thread, double bytes) {
  const double taken = std::min(bytes, room(load, k, thread));
  if (taken <= 0) return;
  const auto t = size_t(thread);
  time_[t] -= taken / (rates_[k * size_t(paths_.nodes()) + t] * kGiga);
  memory_[t] -= taken * needs_[k].follows;
  for_each_server(load, thread, paths_.nodes(), paths_.write_weight(),
                  [&](int m, double weight) { served_[size_t(m)] -= taken * weight; });
  share(k, thread) += taken;
}

bool Splitter::assign(std::span<const Load> loads, double seconds) {
  const auto n = size_t(paths_.nodes());
  for (size_t m = 0; m < n; ++m) {
    time_[m] = std::max(paths_.cores(int(m)), 1) * seconds;
    memory_[m] = paths_.memory_gbs(int(m)) * kGiga * seconds - fixed_use_[m];
    served_[m] = paths_.served_gbs(int(m)) * kGiga * seconds;
    if (memory_[m] < -kNothing) return false;
  }
  std::fill(shares_.begin(), shares_.end(), 0);
  const auto left = [&](size_t k) {
    double sum = loads[k].bytes;
    for (size_t t = 0; t < n; ++t) sum -= share(k, int(t));
    return sum;
  };
  for (size_t k = 0; k < loads.size(); ++k) {
    if (needs_[k].home >= 0) {
      give(loads[k], k, needs_[k].home, loads[k].bytes);
    } else {
      for (size_t t = 0; t < n; ++t) give(loads[k], k, int(t), loads[k].bytes / double(n));
    }
  }
  for (size_t rank = 0; rank < n; ++rank)
    for (size_t k = 0; k < loads.size(); ++k)
      if (const double rest = left(k); rest > kNothing)
        give(loads[k], k, needs_[k].order[rank], rest);
  for (size_t k = 0; k < loads.size(); ++k)
    if (left(k) > kNothing) return false;
  return true;
}

Split Splitter::plan(std::span<const Load> loads, int most_threads) {
  prepare(loads);
  if (loads.empty()) return finish(loads, 0, most_threads);
  const double least = least_seconds(loads);
  kept_ = shares_;
  for (const double slack : kSlacks)
    if (assign(loads, least * slack)) return finish(loads, least * slack, most_threads);
  shares_ = kept_;
  return finish(loads, least, most_threads);
}

Split Splitter::finish(std::span<const Load> loads, double seconds, int most_threads) {
  const auto n = size_t(paths_.nodes());
  Split made;
  made.seconds = seconds;
  made.threads.assign(n, 0);
  made.shares.reserve(loads.size() * 2);
  std::fill(time_.begin(), time_.end(), 0);
  for (size_t k = 0; k < loads.size(); ++k) {
    // Of a few bytes the shares may all be less than one: then one node has them.
    const auto own = shares_.begin() + std::ptrdiff_t(k * n);
    const auto most = std::max_element(own, own + std::ptrdiff_t(n));
    if (loads[k].bytes > 0 && *most <= kNothing) *most = std::max(loads[k].bytes, 1.0);
    for (size_t t = 0; t < n; ++t) {
      const double bytes = share(k, int(t));
      if (bytes <= kNothing) continue;
      made.shares.push_back({k, int(t), bytes});
      time_[t] += bytes / (rates_[k * n + t] * kGiga);
      const int source = loads[k].source >= 0 ? loads[k].source : int(t);
      const int target = loads[k].target >= 0 ? loads[k].target : int(t);
      made.route_bytes[size_t(machine::route_of(source, int(t), target))] += bytes;
    }
  }
  int sum = 0;
  for (size_t t = 0; t < n; ++t) {
    if (time_[t] <= 0) continue;
    const double wanted = std::ceil(time_[t] / seconds - 0.01);
    made.threads[t] = std::clamp(int(wanted), 1, std::max(paths_.cores(int(t)), 1));
    sum += made.threads[t];
  }
  while (most_threads > 0 && sum > most_threads) {
    const auto most = std::max_element(made.threads.begin(), made.threads.end());
    if (*most <= 1) break;
    --*most;
    --sum;
  }
  return made;
}

}  // namespace haichi::numaio
