// The report of a job, of what its ranks say (report/rank_text.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "placement/placement.h"

namespace haichi::report {

/// What is the same on all ranks, or known to rank 0.
struct Job {
  std::string command;
  std::string id;  ///< of the batch system; empty: none
  int64_t started_unix_s = 0;
  double wall_s = 0;
  std::string abi, library;  ///< of MPI
  const placement::Placement& world;
  const Settings& settings;
};

/// The texts of all ranks, in order of rank.
struct RankTexts {
  std::string all;
  std::vector<size_t> begins;  // of each, and the end of the last
  bool only_rank_0 = false;    // the others' are empty

  size_t size() const { return begins.empty() ? 0 : begins.size() - 1; }
  std::string_view operator[](size_t rank) const {
    return std::string_view(all).substr(begins[rank], begins[rank + 1] - begins[rank]);
  }
};

/// What a report says of the job, as JSON: program, MPI, placement, settings.
std::string header(const Job& job);

/// haichi.report/1, given what header() made and, if the run did not come to its end, how it was
/// cut (JSON). A text that is no JSON counts as none; nothing is said where the header is none.
std::string merged(std::string_view header, const RankTexts& texts, std::string_view cut = {});

}  // namespace haichi::report
