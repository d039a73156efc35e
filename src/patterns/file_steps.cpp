#include "patterns/file_steps.h"

#include <algorithm>
#include <utility>

namespace haichi::patterns {

using plan::Step;

namespace {

int64_t size_of(const Step& step) {
  return step.kind == Step::Kind::file_write ? step.from.size : step.to.size;
}

}  // namespace

FileSteps::FileSteps(std::unique_ptr<plan::Schedule> inner, const Pieces& pieces,
                     mpiio::Holes holes, const mpiio::TwoPhasePlan& plan, int rank)
    : FileSteps(std::move(inner), pieces, holes, plan.file_thread) {
  const std::vector<int>& ranks = plan.aggregators.ranks;
  domains_ = &plan.domains;
  aggregator_ = int(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

bool FileSteps::next(Step& step) {
  while (steps_.empty()) {  // a window may lie in a hole: then nothing of it is written
    if (!inner_->next(step)) return false;
    if (step.kind != Step::Kind::file_read && step.kind != Step::Kind::file_write) return true;
    expand(step);
  }
  step = steps_.front();
  steps_.pop_front();
  return true;
}

void FileSteps::expand(const Step& step) {
  const plan::WindowLayout window =
      domains_ ? domains_->layout(aggregator_, step.round)
               : plan::Extent{step.file_begin, step.file_begin + size_of(step)};
  int64_t at = 0;
  window.for_each_part(
      [&](const plan::Extent& part) { add_part(step, part, std::exchange(at, at + part.size())); });
  if (thread_) return;
  Step wait = step;
  wait.kind = Step::Kind::file_wait;
  steps_.push_back(wait);
}

/// What becomes of a part that lies `at` bytes behind the begin of the step's slice.
void FileSteps::add_part(const Step& step, const plan::Extent& part, int64_t at) {
  Step access = step;
  plan::Slice& slice = step.kind == Step::Kind::file_write ? access.from : access.to;
  slice.begin += at;
  slice.size = part.size();
  access.file_begin = part.begin;
  if (step.kind == Step::Kind::file_write)
    write(access);
  else
    steps_.push_back(access);
}

void FileSteps::write(const Step& step) {
  const int64_t begin = std::max(step.file_begin, pieces_.range.begin);
  const int64_t end = std::min(step.file_begin + step.from.size, pieces_.range.end);
  const auto piece = [&](int64_t k) {
    const int64_t at = pieces_.range.begin + k * pieces_.stride;
    return plan::Extent{std::max(at, begin), std::min(at + pieces_.size, end)};
  };
  const int64_t first = (begin - pieces_.range.begin) / pieces_.stride;
  const int64_t last = (end - 1 - pieces_.range.begin) / pieces_.stride;
  int64_t count = 0, bytes = 0;
  plan::Extent all{end, begin};
  for (int64_t k = first; k <= last; ++k) {
    const plan::Extent part = piece(k);
    if (part.empty()) continue;
    all = {std::min(all.begin, part.begin), std::max(all.end, part.end)};
    bytes += part.size();
    ++count;
  }
  const auto add = [&](Step::Kind kind, const plan::Extent& part) {
    plan::Slice slice = step.from;
    slice.begin += part.begin - step.file_begin;
    slice.size = part.size();
    Step access{.kind = kind, .file_begin = part.begin, .round = step.round};
    (kind == Step::Kind::file_read ? access.to : access.from) = slice;
    steps_.push_back(access);
  };
  if (pieces_.size == pieces_.stride || mpiio::wants_rmw(count, all.size(), bytes, holes_)) {
    if (pieces_.size != pieces_.stride) add(Step::Kind::file_read, all);
    if (!all.empty()) add(Step::Kind::file_write, all);
    return;
  }
  for (int64_t k = first; k <= last; ++k)
    if (const plan::Extent part = piece(k); !part.empty()) add(Step::Kind::file_write, part);
}

}  // namespace haichi::patterns
