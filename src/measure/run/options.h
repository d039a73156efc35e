// The command line of haichi measure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/timetable.h"

namespace haichi::measure {

struct Options {
  std::vector<std::string> words;  ///< groups, names, MPI functions
  bool list = false, json = false;
  double budget = 0;  ///< seconds; 0: by the number of points
  Goal goal;
  std::vector<int64_t> sizes;  ///< empty: each measurement's own
  std::string out;             ///< "": a new name in the current folder
  std::string directory = ".";
  bool resume = false, raw = false, reference = false, unbound = false;
  uint64_t seed = 0;  ///< 0: from the clock
  int patience = 60;
};

/// Reads the command line. Prints help or a complaint if `speaks`; then `code` is the exit code
/// and the result false.
bool read_options(int argc, char** argv, bool speaks, Options& options, int& code);

inline constexpr int kUsage = 64;  ///< EX_USAGE of sysexits.h, as everywhere in haichi

}  // namespace haichi::measure
