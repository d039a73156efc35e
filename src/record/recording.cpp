#include "record/recording.h"

#include <cstring>

#include "record/fold.h"

namespace haichi::record {

Recording::Recording(int fd, const char* const* names, const Start& start)
    : memory_(kSequenceAt + SequenceLayout(Folder::kMostBytes).bytes, fd), names_(names) {
  if (!memory_.make_usable(0, kTextAt)) return;
  head_ = memory_.at<Head>(0);
  head_->rank = start.rank;
  head_->ranks = start.ranks;
  head_->started_ns = head_->last_ns = start.now_ns;
  head_->cpu_started_ns = start.cpu_ns;
  definitions_.emplace(memory_, *head_);
  table_.emplace(memory_, *head_);
  traffic_.emplace(memory_, *head_);
  memcpy(head_->magic, Head::kMagic, sizeof Head::kMagic);  // last: now it can be read
}

bool Recording::add(const Call& call) {
  const int64_t took = call.end_ns - call.begin_ns;
  ++head_->calls;
  head_->mpi_ns += took;
  head_->compute_ns += call.compute_ns;
  head_->last_ns = call.end_ns;
  bool is_new = false;
  if (!table_->add(call.key, {took, call.wait_ns}, is_new)) {
    head_->full = 1;
    ++head_->calls_without_key;
  }
  if (!is_new) return false;
  for (const uint16_t function : {call.key.function, call.key.began})
    if (function < Key::kMixed) definitions_->add_function(function, names_[function]);
  return true;
}

bool Recording::begin(uint64_t request, Begun& begun) {
  const bool followed = requests_.add(request, begun);
  if (!followed) ++head_->requests_lost;
  return followed;
}

void Recording::finish(int64_t now_ns, int64_t cpu_ns) {
  head_->wall_ns = now_ns - head_->started_ns;
  head_->cpu_ns = cpu_ns - head_->cpu_started_ns;
  head_->finalized = 1;
}

PartView Recording::view() const {
  PartView all = {};
  view_part({memory_.data(), kSequenceAt}, all);
  return all;
}

}  // namespace haichi::record
