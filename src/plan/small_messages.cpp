#include "plan/small_messages.h"

#include <string.h>

#include <algorithm>

namespace haichi::plan {

std::vector<std::byte>& SmallMessages::receive_from(int peer, size_t size) {
  return add(Step::Kind::receive, peer, std::vector<std::byte>(size));
}

void SmallMessages::send_to(int peer, std::vector<std::byte> data) {
  add(Step::Kind::send, peer, std::move(data));
}

std::vector<std::byte>& SmallMessages::add(Step::Kind kind, int peer, std::vector<std::byte> data) {
  Step step;
  step.kind = kind;
  step.peer = peer;
  const Slice slice{int(data_.size()), 0, int64_t(data.size())};
  (kind == Step::Kind::send ? step.from : step.to) = slice;
  steps_.push_back(step);
  data_.push_back(std::make_unique<std::vector<std::byte>>(std::move(data)));
  return *data_.back();
}

void SmallMessages::sort_sends() {
  std::stable_sort(steps_.begin(), steps_.end(), [&](const Step& a, const Step& b) {
    const bool a_sends = a.kind == Step::Kind::send;
    const bool b_sends = b.kind == Step::Kind::send;
    if (!a_sends || !b_sends) return b_sends && !a_sends;
    return order_.position_of(a.peer) < order_.position_of(b.peer);
  });
}

bool SmallMessages::next(Step& step) {
  if (at_ == 0) sort_sends();
  if (at_ == steps_.size()) return false;
  step = steps_[at_++];
  return true;
}

std::byte* SmallMessages::contiguous(const Slice& slice) {
  return data_[size_t(slice.buffer)]->data() + slice.begin;
}

void SmallMessages::gather(const Slice& slice, std::byte* out) {
  memcpy(out, contiguous(slice), size_t(slice.size));
}

void SmallMessages::scatter(const Slice& slice, const std::byte* in) {
  memcpy(contiguous(slice), in, size_t(slice.size));
}

}  // namespace haichi::plan
