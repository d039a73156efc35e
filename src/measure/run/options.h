// The command line of haichi measure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/points.h"
#include "measure/timetable.h"

namespace haichi::measure {

/// What the user says of how ranks begin a sample.
enum class StartAsked { by_reason, barrier, window };

struct Options {
  std::vector<std::string> words;  ///< groups, names, MPI functions
  bool list = false, json = false, health = false;
  double budget = 0;  ///< seconds; 0: by the number of points
  Goal goal;
  std::vector<int64_t> sizes;  ///< empty: each measurement's own
  std::string out;             ///< "": a new name in the current folder
  std::string directory = ".";
  bool quick = false, resume = false, raw = false, reference = false, unbound = false;
  uint64_t seed = 0;  ///< 0: from the clock
  int patience = 60;
  StartAsked start = StartAsked::by_reason;
  std::vector<Buffers> buffers{Buffers::hot};
  std::vector<Spacing> spacings{Spacing::own};
  bool under = false;  ///< read by `haichi`, as is mpi
  std::string mpi;
  bool refine = false, switches = false;
  int launches = 1;
  int repetition = 0;  ///< of the launches that --launches makes, from 1; 0: there is no other

  bool refines() const { return refine || switches; }
  bool one_of_several() const { return repetition > 0; }
};

/// Reads the command line. Prints help or a complaint if `speaks`; then `code` is the exit code
/// and the result false.
bool read_options(int argc, char** argv, bool speaks, Options& options, int& code);

// Exit codes, of rank 0; the others end with 0.
inline constexpr int kIncomplete = 1;  ///< something that was asked for was not measured
inline constexpr int kUsage = 64;      ///< EX_USAGE of sysexits.h, as everywhere in haichi
inline constexpr int kMpiFails = 70;   ///< EX_SOFTWARE
inline constexpr int kCantWrite = 73;  ///< EX_CANTCREAT

}  // namespace haichi::measure
