// A schedule of messages that are whole small buffers: what ranks tell each other outside an
// access.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <memory>
#include <vector>

#include "plan/issue_order.h"
#include "plan/schedule.h"

namespace haichi::plan {

/// All receives, then all sends in issue order. Add what is to go, then give it to an Executor as
/// both schedule and buffers, once. `order` must outlive it.
class SmallMessages : public Schedule, public Buffers {
 public:
  explicit SmallMessages(const PeerOrder& order) : order_(order) {}
  /// The bytes that will have arrived after the run; valid as long as this object.
  std::vector<std::byte>& receive_from(int peer, size_t size);
  void send_to(int peer, std::vector<std::byte> data);

  bool next(Step& step) override;
  int max_outstanding() const override { return 32; }
  std::byte* contiguous(const Slice& slice) override;
  void gather(const Slice& slice, std::byte* out) override;
  void scatter(const Slice& slice, const std::byte* in) override;
  bool order_free(const Slice&) override { return true; }
  void read_file(const Slice&, int64_t) override {}
  void write_file(const Slice&, int64_t) override {}

 private:
  std::vector<std::byte>& add(Step::Kind kind, int peer, std::vector<std::byte> data);
  void sort_sends();

  const PeerOrder& order_;
  std::vector<Step> steps_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> data_;
  size_t at_ = 0;
};

}  // namespace haichi::plan
