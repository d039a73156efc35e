// The text of GOAL as operations.
#pragma once

#include <cstdint>
#include <istream>
#include <vector>

#include "base/result.h"

namespace haichi::goal {

struct Operation {
  enum class Kind : uint8_t { calc, send, receive };
  Kind kind = Kind::calc;
  int64_t amount = 0;  ///< bytes; of calc nanoseconds
  int peer = -1, tag = 0;
};

/// That `later` begins when `earlier` is over, or has only begun. Indices in
/// RankProgram::operations.
struct Dependence {
  int later, earlier;
  bool begun;
};

struct RankProgram {
  std::vector<Operation> operations;
  std::vector<Dependence> dependences;
};

/// The programs of all ranks. Fails as read_goal().
Result<std::vector<RankProgram>> parse_goal(std::istream& in);

}  // namespace haichi::goal
