// What will be read next, by what was read before: pure, so that it is tested without a file.
//
// Paper 002 leaves reads synchronous. A dispatcher sees those of all processes of its node, and
// keeps a pattern for each open file description and one for all of them together: processes that
// read a file in turns make a sequence that none of them makes alone.
#pragma once

#include <cstdint>
#include <optional>

namespace haichi::gasfs {

/// `count` pieces of `length` bytes, the first at `offset`, each `stride` behind the one before.
struct Ahead {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t stride = 0;
  uint32_t count = 1;
  bool operator==(const Ahead&) const = default;
};

class ReadPattern {
 public:
  /// `most` bytes are read ahead at most.
  explicit ReadPattern(uint64_t most = uint64_t{4} << 20) : most_(most) {}
  /// A piece is read: what to read ahead now, that was not told before.
  std::optional<Ahead> read(uint64_t offset, uint64_t length);

 private:
  std::optional<Ahead> go_on(uint64_t end);
  std::optional<Ahead> step_on(uint64_t offset, uint64_t length);

  uint64_t most_;
  uint64_t offset_ = 0;  // of the last piece
  uint64_t end_ = 0;
  uint64_t stride_ = 0;  // of the last two
  uint32_t alike_ = 0;   // how often the last step came, up to now
  bool sequential_ = false;
  uint64_t window_ = 0;  // bytes that are read ahead
  uint64_t told_ = 0;    // up to where
};

}  // namespace haichi::gasfs
