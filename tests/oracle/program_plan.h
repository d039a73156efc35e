// One random program: ranks that write one file by calls of many kinds, through several handles, as
// early or as late as it happens. No byte of the file is written by two calls of a phase, so the
// standard forbids that one is lost (MPI 4.1, 14.6.1, nonatomic mode, accesses that don't
// conflict).
//
// Everything follows from (seed, number, ranks, features); each rank makes the whole plan, which is
// small. No MPI here. Offsets, lengths and sizes are in bytes, times in microseconds.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracle/byte_model.h"
#include "oracle/feature_set.h"
#include "oracle/rng.h"

namespace oracle {

enum class ProgramFeature {
  collective,
  split,
  icollective,
  strided,
  contiguous,
  istrided,
  icontiguous,
  shared,
  ordered,
  threads,
  world,
  twin,
  halves,
  alone,
  slow,
  views,
  flat,
  gaps,
  late,
  waits,
  hints,
  holes,
  growing,
  unequal,
  tiny,
  bare,
  unlocked
};
const std::vector<FeatureRow>& table_of(ProgramFeature);
inline constexpr size_t kProgramFeatures = size_t(ProgramFeature::unlocked) + 1;

/// What programs may contain: features, and pairs of them that must not meet in one phase.
class ProgramFeatures {
 public:
  bool has(ProgramFeature feature) const { return set_.has(feature); }
  bool allows(const std::bitset<kProgramFeatures>& phase) const;
  /// Leaves out those of a list such as "hints,strided+contiguous"; returns the first unknown name.
  std::optional<std::string> leave_out(std::string_view list);
  std::optional<std::string> keep_only(std::string_view list) { return set_.keep_only(list); }

 private:
  FeatureSet<ProgramFeature> set_;
  std::vector<std::bitset<64>> pairs_;
};

enum class CallKind {
  write_all,
  write_at_all,
  write_all_split,
  write_at_all_split,
  iwrite_all,
  iwrite_at_all,
  write,
  write_at,
  iwrite,
  iwrite_at,
  write_shared,
  write_ordered
};
const char* name_of(CallKind kind);
bool is_collective(CallKind kind);
bool is_split(CallKind kind);
bool is_nonblocking(CallKind kind);
bool has_offset(CallKind kind);
bool is_at_shared(CallKind kind);

struct Handle {
  enum class Over { world, twin, halves, alone } over = Over::world;
  std::vector<std::vector<int>> groups;  ///< ranks of the world that open it together
  std::vector<std::pair<std::string, std::string>> hints;
  /// The ranks that open it together with `rank`, itself among them; empty if it doesn't.
  const std::vector<int>& group_of(int rank) const;
};

/// What one rank writes in one call.
struct Part {
  int rank = 0;
  uint64_t key = 0;          ///< decides the bytes
  std::vector<Piece> cells;  ///< of the file, ascending; at the shared pointer: one record each
  int64_t first = 0;         ///< bytes of the rank's view before these
  int late = 0;              ///< sleeps that long before
  int wait_after = 0;        ///< nonblocking: completed behind this call of the phase
  int64_t bytes() const;
};

struct ProgramCall {
  CallKind kind = CallKind::write_all;
  int view = 0;            ///< index of the phase's views
  bool each_cell = false;  ///< a call for each cell
  bool gaps = false;       ///< the memory is not contiguous
  bool in_thread = false;  ///< made by a second thread while the first goes on
  int end_after = 0;       ///< split: ended behind this call of the phase
  std::vector<Part> parts;
  const Part* part_of(int rank) const;
};

/// A view of a handle, from a call of the phase on.
struct ProgramView {
  int handle = 0;
  int before = 0;                         ///< set before this call
  bool flat = false;                      ///< the bytes of the file, as MPI_File_open gives them
  bool tiled = false;                     ///< as a tile that is repeated, if the cells are regular
  std::vector<std::vector<Piece>> cells;  ///< of each rank of the world, ascending
  Piece records{0, 0};                    ///< where accesses at the shared pointer go
};

struct Phase {
  std::vector<ProgramView> views;
  std::vector<ProgramCall> calls;
  std::bitset<kProgramFeatures> features;
  int64_t end = 0;  ///< of the bytes written
  bool threaded() const;
};

struct Program {
  uint64_t seed = 0, number = 0;
  int ranks = 2;
  int64_t before_bytes = 0;  ///< of the file before it is opened
  uint64_t before_key = 0;
  std::vector<int> slow_percent;  ///< of a rank's reads and writes of the system that sleep
  int slow_longest = 0;           ///< at most that long
  std::vector<Handle> handles;
  std::vector<Phase> phases;
};

Program make_program(uint64_t seed, uint64_t number, int ranks, const ProgramFeatures& features);

/// The bytes at..at+length-1 of what `key` decides.
void fill_bytes(uint64_t key, int64_t at, int64_t length, uint8_t* into);

/// What the file must hold, from phase to phase.
class ProgramModel {
 public:
  explicit ProgramModel(const Program& program);
  /// Takes a phase over and says what is wrong in `content`, line by line; empty if nothing is.
  std::vector<std::string> check(int phase, std::vector<uint8_t> content);

 private:
  void place_records(const Phase& phase, const ProgramView& view, int index,
                     const std::vector<uint8_t>& content, std::vector<std::string>& problems);
  void take_unwritten(int index, const std::vector<uint8_t>& content);
  std::vector<std::string> explain(const Phase& phase, const std::vector<uint8_t>& content) const;
  std::string whose(const Phase& phase, const std::vector<uint8_t>& content, int64_t at,
                    int64_t end) const;
  const Program& program_;
  std::vector<uint8_t> bytes_, before_;  // now, and before the phase
  int64_t size_ = 0;
};

std::string to_text(const Program& program);
/// A call and, of it, one rank's part.
std::string to_text(const Program& program, const Phase& phase, int call);

}  // namespace oracle
