// What a check of health tells: in words, and as haichi.health/1.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/health.h"

namespace haichi::measure {

inline constexpr const char* kHealthSchema = "haichi.health/1";

/// One thing that was measured of every link, or of every rank.
struct Aspect {
  std::string name;           ///< "bandwidth", "latency", "compute" or "copy"
  int64_t bytes;              ///< of a message, or copied; 0 for computing
  double limit;               ///< share above which a unit may be called slow
  std::vector<Shift> shifts;  ///< of links; else
  Visits seconds;             ///< by rank
};

/// What was compared, and how.
struct Checkup {
  bool nodes;                      ///< members are nodes, else ranks
  std::vector<std::string> names;  ///< of the members
  std::vector<int> member_of_rank;
  int visits = 0;
  double took = 0;
  std::vector<Aspect> aspects;
  int members() const { return int(names.size()); }
};

/// All findings of all aspects.
Health judge(const Checkup& checkup);

/// "node3 is slow: what it sends and receives takes 1.43 times as long as its peers' (bandwidth),
/// in 9 of 9 visits; shifts by 1, 7, 2, 6, 4".
std::string sentence(const Finding& finding, const Checkup& checkup);

/// How the units stood in each comparison, a line each.
std::string health_table(const Health& health, const Checkup& checkup);

/// All of it; the caller adds what it knows of the job. Links have the median of their visits.
nlohmann::ordered_json health_record(const Health& health, const Checkup& checkup);

}  // namespace haichi::measure
