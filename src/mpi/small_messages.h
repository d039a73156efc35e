// A schedule of messages that are whole small buffers: what ranks tell each other outside an
// access.
#pragma once

#include <memory>
#include <vector>

#include "plan/issue_order.h"
#include "plan/schedule.h"

namespace haichi::mpi {

/// All receives, then all sends in issue order. Add what is to go, then give it to an Executor as
/// both schedule and buffers, once. `order` must outlive it.
class SmallMessages : public plan::Schedule, public plan::Buffers {
 public:
  explicit SmallMessages(const plan::PeerOrder& order) : order_(order) {}
  /// The bytes that will have arrived after the run; valid as long as this object.
  std::vector<std::byte>& receive_from(int peer, size_t size);
  void send_to(int peer, std::vector<std::byte> data);

  bool next(plan::Step& step) override;
  int window() const override { return 32; }
  std::byte* contiguous(const plan::Slice& slice) override;
  void gather(const plan::Slice& slice, std::byte* out) override;
  void scatter(const plan::Slice& slice, const std::byte* in) override;
  bool order_free(const plan::Slice&) override { return true; }
  void read_file(const plan::Slice&, int64_t) override {}
  void write_file(const plan::Slice&, int64_t) override {}

 private:
  std::vector<std::byte>& add(plan::Step::Kind kind, int peer, std::vector<std::byte> data);
  void sort_sends();

  const plan::PeerOrder& order_;
  std::vector<plan::Step> steps_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> data_;
  size_t at_ = 0;
};

}  // namespace haichi::mpi
