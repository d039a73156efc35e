// An array of zeros of which only what is used takes memory: the system hands out pages when they
// are first written. So a bound may be generous, and nothing is ever copied to a larger place.
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <memory>
#include <type_traits>

namespace haichi::record {

template <class T>
class LazyArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Has no elements if there is no memory for `size`.
  explicit LazyArray(size_t size)
      : data_(static_cast<T*>(calloc(size, sizeof(T)))), size_(data_ ? size : 0) {}

  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* data) const { free(data); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_;
};

}  // namespace haichi::record
