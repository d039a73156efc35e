// Bounded record of what one rank did, for the run report (paper 000, Fig. 11).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace haichi::trace {

enum class Phase : uint8_t { read, exchange, write, agree };
inline constexpr int kPhases = 4;
const char* name_of(Phase phase);

/// One interval of one rank. Times are nanoseconds since the recorder's start.
struct Event {
  int32_t call = 0;  ///< index of the collective call within the run, equal on all its ranks
  int32_t cycle = 0;
  Phase phase = Phase::agree;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t bytes = 0;
};

/// Keeps at most `capacity` events; totals are kept for all. One per rank; the caller serialises.
class Recorder {
 public:
  explicit Recorder(size_t capacity, int nodes);

  void add(const Event& event);
  /// Counts bytes that this rank sent to a rank on node `node`.
  void sent(int node, int64_t bytes);

  const std::vector<Event>& events() const { return events_; }
  int64_t dropped() const { return dropped_; }
  int64_t total_ns(Phase phase) const { return total_ns_[size_t(phase)]; }
  int64_t total_bytes(Phase phase) const { return total_bytes_[size_t(phase)]; }
  /// Bytes sent to each node.
  const std::vector<int64_t>& sent_to() const { return sent_to_; }

 private:
  size_t capacity_;
  std::vector<Event> events_;
  int64_t dropped_ = 0;
  std::array<int64_t, kPhases> total_ns_ = {};
  std::array<int64_t, kPhases> total_bytes_ = {};
  std::vector<int64_t> sent_to_;
};

}  // namespace haichi::trace
