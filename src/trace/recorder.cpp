#include "trace/recorder.h"

namespace haichi::trace {

const char* name_of(Phase phase) {
  constexpr const char* names[] = {"read", "exchange", "write", "agree"};
  return names[int(phase)];
}

Recorder::Recorder(size_t capacity, int nodes) : capacity_(capacity), sent_to_(size_t(nodes)) {}

void Recorder::add(const Event& event) {
  total_ns_[size_t(event.phase)] += event.end_ns - event.begin_ns;
  total_bytes_[size_t(event.phase)] += event.bytes;
  if (events_.size() < capacity_)
    events_.push_back(event);
  else
    ++dropped_;
}

void Recorder::sent(int node, int64_t bytes) { sent_to_[size_t(node)] += bytes; }

}  // namespace haichi::trace
