// What the recorder knows of datatypes.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

#include "record/key.h"

namespace haichi::recorder {

struct TypeFacts {
  int64_t size = 0;  ///< bytes of data
  record::Shape shape = record::Shape::none;
};

/// Remembers some thousand datatypes until they are freed. Not thread-safe.
class Types {
 public:
  /// Of a datatype with which MPI has just carried out a call: a query of any other handle would
  /// call the program's error handler.
  TypeFacts of(MPI_Datatype valid);
  /// Before it is freed: another one may get its handle.
  void forget(MPI_Datatype type);

 private:
  struct Known {
    uint64_t handle;  // 0: none
    TypeFacts facts;
  };
  Known& place_of(uint64_t handle) {
    return known_[(handle * 0x9e3779b97f4a7c15u >> 48) % known_.size()];
  }

  std::array<Known, 4096> known_ = {};
};

}  // namespace haichi::recorder
