#include "gasfs/plan/read_pattern.h"

#include <algorithm>

namespace haichi::gasfs {
namespace {

/// Steps that are alike before anything is read ahead.
constexpr uint32_t kAlike = 2;
/// What is read ahead at first; doubled each time.
constexpr uint64_t kFirstWindow = uint64_t{128} << 10;
/// Reading over so little costs less than leaving it out, and somebody else may want it.
constexpr uint64_t kSmallGap = uint64_t{64} << 10;
constexpr uint32_t kMostPieces = 64;

}  // namespace

std::optional<Ahead> ReadPattern::read(uint64_t offset, uint64_t length) {
  const bool follows = offset >= end_ && offset - end_ <= kSmallGap;
  const uint64_t stride = offset > offset_ ? offset - offset_ : 0;
  const bool same = follows ? sequential_ : !sequential_ && stride != 0 && stride == stride_;
  if (!same) window_ = told_ = 0;
  alike_ = same ? alike_ + 1 : 1;
  sequential_ = follows;
  stride_ = stride;
  offset_ = offset;
  end_ = offset + length;
  if (alike_ < kAlike || (!follows && stride == 0)) return {};
  return follows ? go_on(end_) : step_on(offset, length);
}

std::optional<Ahead> ReadPattern::go_on(uint64_t end) {
  // Again when half of what is ahead has been read.
  if (told_ > end && told_ - end > window_ / 2) return {};
  window_ = std::min(std::max(2 * window_, kFirstWindow), most_);
  const uint64_t from = std::max(told_, end);
  told_ = end + window_;
  if (told_ <= from) return {};
  return Ahead{from, told_ - from, told_ - from, 1};
}

std::optional<Ahead> ReadPattern::step_on(uint64_t offset, uint64_t length) {
  const uint64_t ahead = window_ == 0 ? 0 : told_ - std::min(told_, offset + stride_);
  if (ahead > window_ * stride_ / std::max<uint64_t>(length, 1) / 2) return {};
  window_ = std::min(std::max(2 * window_, std::max(kFirstWindow, 2 * length)), most_);
  const auto pieces = uint32_t(std::clamp<uint64_t>(window_ / length, 1, kMostPieces));
  const uint64_t from = std::max(told_, offset + stride_);
  const uint64_t to = offset + (pieces + 1) * stride_;
  if (to <= from) return {};
  told_ = to;
  return Ahead{from, length, stride_, uint32_t((to - from) / stride_)};
}

}  // namespace haichi::gasfs
