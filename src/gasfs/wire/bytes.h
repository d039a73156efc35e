// Numbers, texts and times as bytes of a message, little-endian, and back with every bound checked.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace haichi::gasfs {

static_assert(std::endian::native == std::endian::little,
              "messages are written as memory has them");

/// Bytes that are not set to zero before they are used.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t size)
      : data_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  std::span<std::byte> span() { return {data(), size_}; }
  std::span<const std::byte> span() const { return {data(), size_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  size_t size_ = 0;
};

/// Puts values one behind the other.
class Packer {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    made_.insert(made_.end(), bytes, bytes + sizeof value);
  }
  /// A text and its length before it.
  void put(std::string_view text) {
    put(static_cast<uint32_t>(text.size()));
    put_bytes(std::as_bytes(std::span(text)));
  }
  void put_bytes(std::span<const std::byte> bytes) {
    made_.insert(made_.end(), bytes.begin(), bytes.end());
  }
  std::span<const std::byte> bytes() const { return made_; }
  std::vector<std::byte> take() { return std::move(made_); }

 private:
  std::vector<std::byte> made_;
};

/// Takes them again. Once something was missing nothing more is given: ask `whole` at the end.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class T>
    requires std::is_arithmetic_v<T>
  T take() {
    T value{};
    const auto bytes = take_bytes(sizeof value);
    if (sound_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  void take(T& value) {
    value = take<T>();
  }
  std::string_view take_text() {
    const auto bytes = take_bytes(take<uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::span<const std::byte> take_bytes(size_t size) {
    if (!sound_ || size > left_.size()) {
      sound_ = false;
      return {};
    }
    const auto taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  std::span<const std::byte> take_rest() { return take_bytes(left_.size()); }
  size_t left() const { return left_.size(); }
  bool sound() const { return sound_; }
  /// Nothing was missing and nothing is left.
  bool whole() const { return sound_ && left_.empty(); }

 private:
  std::span<const std::byte> left_;
  bool sound_ = true;
};

inline void put_time(Packer& packer, const timespec& time) {
  packer.put(int64_t{time.tv_sec});
  packer.put(int64_t{time.tv_nsec});
}

inline timespec take_time(Unpacker& unpacker) {
  const auto seconds = unpacker.take<int64_t>();
  return {seconds, unpacker.take<int64_t>()};
}

}  // namespace haichi::gasfs
