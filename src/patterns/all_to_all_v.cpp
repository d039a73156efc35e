// An all-to-all of unequal messages: a matrix says how many bytes each rank has for each.
#include <errno.h>

#include <memory>
#include <utility>

#include "base/os.h"
#include "patterns/byte_matrix.h"
#include "patterns/pattern.h"
#include "plan/issue_order.h"

namespace haichi::patterns {
namespace {

using plan::Step;

// All receives in rank order, then all sends in the issue order, then a wait; as sim/all_to_all.h,
// but nothing is sent where there are no bytes.
class AllToAllV : public plan::Schedule {
 public:
  AllToAllV(const placement::Placement& placement, const ByteMatrix& matrix, plan::IssueOrder order,
            int me, int window)
      : order_(placement, order, me), matrix_(matrix), me_(me), window_(window) {}

  bool next(Step& step) override {
    const int ranks = order_.size();
    for (; at_ < 2 * ranks; ++at_) {
      const bool receives = at_ < ranks;
      const int peer = receives ? at_ : order_.peer(at_ - ranks);
      const int64_t bytes = receives ? matrix_.bytes(peer, me_) : matrix_.bytes(me_, peer);
      if (bytes == 0) continue;
      const plan::Slice slice{receives ? 1 : 0, 0, bytes};
      step = {.kind = receives ? Step::Kind::receive : Step::Kind::send, .peer = peer};
      (receives ? step.to : step.from) = slice;
      ++at_;
      return true;
    }
    return false;
  }
  int window() const override { return window_; }

 private:
  const plan::PeerOrder order_;
  const ByteMatrix& matrix_;
  const int me_, window_;
  int at_ = 0;
};

}  // namespace

Result<Job> all_to_all_v(const Case& of) {
  const Parameters& p = of.parameters;
  if (p.file.empty()) return fail(EINVAL, "alltoallv takes a file: a matrix of bytes");
  const auto text = read_file(p.file);
  if (!text) return tl::unexpected(text.error());
  auto matrix = ByteMatrix::parse(*text, of.placement.ranks());
  if (!matrix) return fail(EINVAL, "{}: {}", p.file, matrix.error().text);
  const auto base = std::make_shared<const ByteMatrix>(*std::move(matrix));
  Job job;
  job.base = base;
  for (int r = 0; r < of.placement.ranks(); ++r)
    job.schedules.push_back(std::make_unique<AllToAllV>(of.placement, *base, p.order, r, p.window));
  return job;
}

}  // namespace haichi::patterns
