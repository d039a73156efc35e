// Random numbers that are the same for one seed on every machine and every MPI.
//
// std::mt19937_64 is fixed by the language, the distributions of <random> are not, so the numbers
// are drawn by hand. Every decision of a case has an engine of its own, named by a path of
// numbers (seed, case, step, rank, purpose): a rank generates its own part of a case without
// generating the parts of the others, and leaving a step out changes no other step.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace oracle {

/// One step of splitmix64: spreads the bits of `x`.
constexpr uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Rng {
 public:
  explicit Rng(std::initializer_list<uint64_t> path) : engine_(hash(path)) {}

  static uint64_t hash(std::initializer_list<uint64_t> path) {
    uint64_t h = 0;
    for (uint64_t word : path) h = mix(h ^ mix(word));
    return h;
  }

  /// 0 .. n-1; n must be positive.
  int64_t below(int64_t n) { return int64_t(engine_() % uint64_t(n)); }
  /// low .. high, both included.
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[size_t(below(int64_t(from.size())))];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[size_t(below(int64_t(i)))]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace oracle
