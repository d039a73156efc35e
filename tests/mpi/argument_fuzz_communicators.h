/* Communicators of argument_fuzz. */
#pragma once

#include <mpi.h>
#include <stdio.h>

#include "argument_fuzz_exchanges.h"

static void fuzz_communicator(void) {
  const MPI_Comm bases[] = {comms[0], MPI_COMM_NULL, comms[4]};
  const int which = draw(5), base = draw(5) < 3 ? 0 : 1 + draw(2), wrong = draw(2);
  const MPI_Comm comm = bases[base];
  MPI_Comm made = MPI_COMM_NULL;
  const int few[] = {1, ranks}, many[] = {ranks + 1, 2}, flags[] = {0, 0};
  int code = MPI_SUCCESS, size = -1;
  const char* const names[] = {"MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_create",
                               "MPI_Cart_create", "MPI_Dist_graph_create_adjacent"};
  if (base == 2 && which >= 3) return;
  if (which == 0) code = MPI_Comm_dup(comm, &made);
  if (which == 1) code = MPI_Comm_split(comm, wrong ? -7 : rank % 2, 0, &made);
  if (which == 2) {
    MPI_Group group = MPI_GROUP_NULL;
    if (base == 0 && !wrong) MPI_Comm_group(comm, &group);
    if (base != 2) code = MPI_Comm_create(comm, group, &made);
    if (group != MPI_GROUP_NULL) MPI_Group_free(&group);
  }
  if (which == 3) code = MPI_Cart_create(comm, 2, wrong ? many : few, flags, 0, &made);
  if (which == 4) {
    const int next = wrong ? ranks + 3 : (rank + 1) % ranks;
    code =
        MPI_Dist_graph_create_adjacent(comm, 0, NULL, MPI_UNWEIGHTED, base == 0 && !wrong ? 0 : 1,
                                       &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  }
  if (code == MPI_SUCCESS && made != MPI_COMM_NULL) {
    MPI_Comm_size(made, &size);
    MPI_Comm_free(&made);
  }
  fprintf(log_file, "base %d%s: ", base, wrong ? ", wrong" : "");
  told(names[which], "made", code, &size, sizeof size);
}
