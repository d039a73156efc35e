#include "replay/run/room.h"

#include <climits>

#include "replay/run/must.h"

namespace haichi::replay {
namespace {

constexpr int kMebibyte = 1 << 20;

}  // namespace

Amounts::Amounts() {
  must(MPI_Type_contiguous(kMebibyte, MPI_BYTE, &mebibyte_));
  must(MPI_Type_commit(&mebibyte_));
}

Amounts::~Amounts() { MPI_Type_free(&mebibyte_); }

Amounts::Unit Amounts::unit(int64_t all) const {
  return all <= INT_MAX ? Unit{MPI_BYTE, 1} : Unit{mebibyte_, kMebibyte};
}

}  // namespace haichi::replay
