// The sequence of a rank's MPI calls as a program: events, and loops around them. The form that a
// record keeps (haichi.record/1, docs/guide/formats.md), that is replayed and that is predicted by.
//
// A program of a million equal iterations is a loop with a count, so all that walks a sequence
// walks the program and unfolds it as it goes: Unfolded below never holds more than one place of
// each loop around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace haichi::record {

inline constexpr int kAnyRank =
    -2;                             ///< peer of a receive that takes from any rank (MPI_ANY_SOURCE)
inline constexpr int kAnyTag = -1;  ///< tag of a receive that takes any (MPI_ANY_TAG)

/// One call, at one place of the program. Ranks are those of MPI_COMM_WORLD; -1 is "does not apply"
/// but for tags. Times are seconds, means over all occurrences at that place.
struct Event {
  std::string call;  ///< "MPI_Isend"; large-count forms have the name without "_c"
  int64_t bytes = -1;
  int comm = -1;  ///< id of a communicator of the record
  int peer = -1;  ///< -1: none, or MPI_PROC_NULL
  int tag = 0;
  int root = -1;
  int request = -1;  ///< slot of the request that it begins, the smallest that is free
  int from = -1;     ///< of MPI_Sendrecv: whom it receives from,
  int from_tag = 0;  ///< with which tag
  int file = -1;
  int window = -1;
  int64_t from_bytes = -1;     ///< and how much
  int64_t received = -1;       ///< v- and w-forms: what this rank receives
  std::vector<int> completes;  ///< slots that it ends, of MPI_Wait..., MPI_Test...
  double compute_s = 0;        ///< computing before it
  double took_s = 0;           ///< the call itself
  double compute_most_s = 0;   ///< the longest computing before it; 0: not known

  friend bool operator==(const Event&, const Event&) = default;
};

/// An event or a loop, `times` times.
struct Item {
  int event = -1;  ///< index in Sequence::events; -1: a loop
  uint64_t times = 1;
  std::vector<Item> body;

  friend bool operator==(const Item&, const Item&) = default;
};

struct Sequence {
  std::vector<Event> events;
  std::vector<Item> program;
  bool cut = false;  ///< memory was full: what came after is not in it

  friend bool operator==(const Sequence&, const Sequence&) = default;
};

/// How many calls the program makes; saturates.
uint64_t length(const Sequence& sequence);

/// The calls one after the other. The sequence must outlive it and stay as it is.
class Unfolded {
 public:
  explicit Unfolded(const Sequence& sequence);
  /// Index of the next event, or nothing at the end.
  std::optional<int> next();

 private:
  struct Level {
    const std::vector<Item>* body;
    size_t at;            // the item whose turn it is
    uint64_t done;        // of the times of an event at `at`
    uint64_t times_left;  // rounds of the body, this one included
  };
  std::vector<Level> levels_;
};

}  // namespace haichi::record
