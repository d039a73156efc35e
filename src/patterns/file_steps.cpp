#include "patterns/file_steps.h"

#include <algorithm>

namespace haichi::patterns {

using plan::Step;

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
  if (step.kind == Step::Kind::file_write)
    write(step);
  else
    steps_.push_back(step);
  if (thread_) return;
  Step wait = step;
  wait.kind = Step::Kind::file_wait;
  steps_.push_back(wait);
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
