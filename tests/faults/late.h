/* What the programs about accesses behind the program share: a write that is left to the thread,
 * and the gate that holds the thread back. */
#pragma once

#include <fcntl.h>

#include "../mpi/check.h"

enum { kItems = 50 };

static char gate[4200];

static inline void open_gate(void) { close(open(gate, O_WRONLY | O_CREAT, 0666)); }

static inline int gate_is_open(void) { return access(gate, F_OK) == 0; }

static int data[kItems], late[kItems];

static inline MPI_Offset mine(void) { return (MPI_Offset)sizeof data * rank; }

/* A write of `data` that the thread has not begun when it returns; `late` is for what comes behind.
 */
static inline MPI_Request begin(MPI_File file) {
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < kItems; ++i) data[i] = rank * 1000 + i, late[i] = -data[i] - 1;
  EXPECT_OK(MPI_File_iwrite_at_all(file, mine(), data, kItems, MPI_INT, &request));
  EXPECT(!gate_is_open(), "the call has waited for its thread");
  return request;
}

static inline int is_complete(MPI_Request request) {
  int done = 0;
  EXPECT_OK(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE));
  return done;
}
