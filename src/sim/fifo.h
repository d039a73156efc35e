// A queue that is mostly short.
//
// Why not std::deque: each of those holds half a kilobyte once it is made, and its entries go round
// in it. The queues of a large machine have one entry now and then, which is to be in the same
// place each time.
//
// PURE.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace haichi::sim {

template <class What>
class Fifo {
 public:
  bool empty() const { return size() == 0; }
  size_t size() const { return long_ ? long_->size() : short_.size() - first_; }
  const What& operator[](size_t at) const { return long_ ? (*long_)[at] : short_[first_ + at]; }
  const What& front() const { return (*this)[0]; }

  void push_back(const What& what) { insert(size(), what); }
  /// Before the one that is `at` places behind the first.
  void insert(size_t at, const What& what) {
    if (!long_ && short_.size() == kMostShort) make_room();
    const auto place = std::ptrdiff_t(at);
    if (long_)
      long_->insert(long_->begin() + place, what);
    else
      short_.insert(short_.begin() + std::ptrdiff_t(first_) + place, what);
  }
  void pop_front() {
    if (long_) {
      long_->pop_front();
      if (long_->empty()) long_.reset();
    } else if (++first_ == short_.size()) {
      short_.clear();
      first_ = 0;
    }
  }

 private:
  static constexpr size_t kMostShort = 32;

  // Where half of them have left, in place of those; each is then moved once in the mean.
  void make_room() {
    const auto begin = short_.begin() + std::ptrdiff_t(first_);
    if (2 * first_ >= kMostShort) {
      short_.erase(short_.begin(), begin);
    } else {
      long_ = std::make_unique<std::deque<What>>(begin, short_.end());
      short_.clear();
    }
    first_ = 0;
  }

  std::vector<What> short_;
  size_t first_ = 0;                        // what is before it in short_ has left
  std::unique_ptr<std::deque<What>> long_;  // has all of them, if there are many
};

}  // namespace haichi::sim
