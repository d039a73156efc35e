// How a collective data access is called. Accesses of different forms may go different ways.
#pragma once

#include <cstdint>

namespace haichi::mpi {

enum class AccessForm : uint8_t {
  whole,    ///< begun and ended by one call
  split,    ///< by two (MPI 4.1, section 14.4.5)
  ordered,  ///< through the shared file pointer, in the order of the ranks; split ones too
};
inline constexpr int kAccessForms = 3;

}  // namespace haichi::mpi
