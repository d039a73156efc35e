// Memory that a call works on, for as long as its request is pending.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace haichi::replay {

/// Of one slot of the record, or of all blocking calls. Grows and never shrinks.
class Room {
 public:
  MPI_Request request = MPI_REQUEST_NULL;
  int event = -1;  ///< of a persistent request: the one that made it
  std::vector<int> counts, starts, in_counts, in_starts;  ///< of calls with varying sizes

  char* out(int64_t bytes) { return grown(out_, bytes); }
  char* in(int64_t bytes) { return grown(in_, bytes); }

 private:
  // At least a byte, so that it is an address.
  static char* grown(std::vector<char>& memory, int64_t bytes) {
    if (memory.size() <= size_t(bytes)) memory.resize(size_t(bytes) + 1);
    return memory.data();
  }
  std::vector<char> out_, in_;
};

/// Bytes as MPI's counts have them: from 2 GiB on in pieces of a MiB, the last of which is whole.
class Amounts {
 public:
  Amounts();
  ~Amounts();
  Amounts(const Amounts&) = delete;
  Amounts& operator=(const Amounts&) = delete;

  struct Unit {
    MPI_Datatype type;
    int64_t bytes;
    int count(int64_t all) const { return int((all + bytes - 1) / bytes); }
    /// With the last piece.
    int64_t whole(int64_t all) const { return int64_t{count(all)} * bytes; }
  };
  /// For calls that move so much altogether.
  Unit unit(int64_t all) const;

 private:
  MPI_Datatype mebibyte_;
};

}  // namespace haichi::replay
