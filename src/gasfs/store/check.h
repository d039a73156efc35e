// Whether a store that nobody serves is sound: what `haichi gasfs check` says.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gasfs/store/copies.h"
#include "gasfs/store/store.h"

namespace haichi::gasfs {

struct CheckReport {
  uint64_t files = 0;
  uint64_t objects = 0;
  /// What is wrong, a line each.
  std::vector<std::string> problems;
  /// Objects of files that are not there: what a dispatcher that died did not remove any more.
  std::vector<Inode> left_over;
  /// Objects that lack what was written while their server was away.
  std::vector<StaleCopy> stale;
};

/// Looks at all stores of one file system together, the first of which has the names: that each
/// name has its file and each file its names, that folders are listed as they are, and whose the
/// objects are.
Result<CheckReport> check(std::span<const std::unique_ptr<Store>> stores);

/// Removes what is left over, also files that lost their last name while they were open, and writes
/// anew what is stale.
Status repair(std::span<const std::unique_ptr<Store>> stores, const CheckReport& report);

}  // namespace haichi::gasfs
