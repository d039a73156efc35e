// What MPI libraries do by their own rules in an MPI_Alltoall, as schedules: what haichi's choice
// is compared with where no such library runs.
//
// A rule knows the number of ranks and the size of a block, nothing of nodes. The rules were read
// in public sources:
//
//   MPICH 4.0 to 5.0    src/mpi/coll/coll_selection.json and maint/tuning/coll/mpir/generic.json;
//                       the algorithms in src/mpi/coll/alltoall/alltoall_intra_*.c. The tree of
//                       release 4.0.2 was compared with the string in its libmpich.so.
//   Open MPI 4.1, 5.0   ompi/mca/coll/tuned/coll_tuned_decision_fixed.c; the algorithms in
//                       ompi/mca/coll/base/coll_base_alltoall.c. Of the component `tuned`, with
//                       its default of no limit to the requests of linear_sync.
//
// Left out: MPICH's and Open MPI's datatypes in Bruck's algorithm, which is haichi's bruck(2) here;
// and what other components of a library (HAN, UCC, shared memory) may do in the place of these.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "collectives/exchange.h"
#include "plan/schedule.h"

namespace haichi::study {

enum class Library : uint8_t { mpich, open_mpi };
inline constexpr std::array kLibraries = {Library::mpich, Library::open_mpi};
std::string_view name_of(Library library);

/// An algorithm as its library calls it.
struct StockAlgorithm {
  std::string_view name;
  /// The candidate of haichi's that it is, as collectives::parse_candidate reads it; else
  /// "scattered" or "linear", which haichi has not.
  std::string_view same_as;
  std::unique_ptr<plan::Schedule> schedule(const collectives::Exchange& exchange) const;
};

/// What the library takes for blocks of so many bytes. Precondition: at least 2 ranks.
StockAlgorithm stock_alltoall(Library library, int ranks, int64_t block);

}  // namespace haichi::study
