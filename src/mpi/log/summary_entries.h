// The numbers that ranks reduce into an AccessSummary (access_summary.h), and their reduction.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace haichi::mpi::summary {

// The least of all ranks' is taken of the first, the sum of the others.
enum Entry {
  can,
  all_open,
  nothing_under_way,
  hints,
  minus_hints,
  hull_begin,
  minus_hull_end,
  minus_most,
  minus_slot,
  off,
  minus_stripe,
  minus_stripes,
  minus_last,
  period,
  least,
  first_sum,
  spans = first_sum,
  bytes,
  blocks,
  parts,
  occupied,
  ranks,
  fillers,
  entries
};

using Entries = int64_t[entries];

/// `to` becomes the reduction of both.
void add(const Entries& from, Entries& to);

/// Makes what a reduction by MPI needs; false if the library has none to spare. Asked when a file
/// is opened: a rank that finds out later could not even say so.
bool can_reduce();
/// Of all ranks' entries, by one MPI_Allreduce. False if the library fails. Precondition:
/// can_reduce() said so.
bool reduce(const Entries& own, Entries& all, MPI_Comm comm);
/// Gives back what it needs; before MPI_Finalize.
void forget_reduction();

}  // namespace haichi::mpi::summary
