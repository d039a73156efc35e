// What the tables of collectives have in common.
#pragma once

#include <ctype.h>

#include <string>

// A call that only MPI 4 has: null where the MPI that is compiled for has none.
#if MPI_VERSION >= 4
#define IN_MPI_4(...) __VA_ARGS__
#else
#define IN_MPI_4(...) nullptr
#endif

namespace haichi::measure {

/// The nonblocking function's name without "MPI_": Iallgather of Allgather.
inline std::string nonblocking_name(std::string function) {
  function[0] = char(tolower(function[0]));
  return "I" + function;
}

}  // namespace haichi::measure
