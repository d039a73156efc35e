/* What the programs of random nonblocking exchanges share: waiting for a list of requests by one
 * function or another, and messages of the program's own. */
#pragma once

#include <mpi.h>

#include "exchange_types.h"

enum { MOST_REQUESTS = 20 };

static inline int wait_by_looking(int count, MPI_Request* requests, int way) {
  int wrong = 0, done = 0, index, indices[MOST_REQUESTS];
  while (way == 0 && !done)
    wrong += MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
  for (done = 0; way == 1;) {
    wrong += MPI_Testany(count, requests, &index, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    if (done && index == MPI_UNDEFINED) break;
  }
  while (way == 2 && done != MPI_UNDEFINED)
    wrong += MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
  for (int i = count; way == 3 && i-- > 0;) {
    for (done = 0; !done;)
      wrong += MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    wrong += MPI_Wait(&requests[i], MPI_STATUS_IGNORE) != MPI_SUCCESS;
  }
  for (int i = 0; way == 4 && i < count; ++i)
    for (done = 0; !done;) wrong += MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  return wrong;
}

/* Waits for all, by one function or another; returns how many calls went wrong. */
static inline int wait_for(int count, MPI_Request* requests, uint64_t* own) {
  const int way = below(own, 10);
  int wrong = 0, done = 0, index = 0, seen = 0, indices[MOST_REQUESTS];
  MPI_Status statuses[MOST_REQUESTS];
  if (way < 5) wrong = wait_by_looking(count, requests, way);
  if (way == 5) wrong = MPI_Waitall(count, requests, statuses) != MPI_SUCCESS;
  if (way == 6) { /* a part of them, then the rest */
    wrong = MPI_Waitall(count / 2, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    wrong += MPI_Waitall(count, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
  }
  while (way == 7 && index != MPI_UNDEFINED) {
    wrong += MPI_Waitany(count, requests, &index, &statuses[0]) != MPI_SUCCESS;
    seen += index != MPI_UNDEFINED;
  }
  while (way == 8 && done != MPI_UNDEFINED) {
    wrong += MPI_Waitsome(count, requests, &done, indices, statuses) != MPI_SUCCESS;
    seen += done == MPI_UNDEFINED ? 0 : done;
  }
  wrong += (way == 7 || way == 8) && seen != count;
  for (int i = count; way == 9 && i-- > 0;)
    wrong += MPI_Wait(&requests[i], MPI_STATUS_IGNORE) != MPI_SUCCESS;
  return wrong;
}

/* A message round the ring of a communicator's ranks, of some length. */
static inline void start_message(int number, MPI_Comm comm, int* out, int* in, int length,
                                 MPI_Request* requests) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < length; ++i) out[i] = rank * 1000 + number * 10 + i;
  MPI_Irecv(in, length, MPI_INT, (rank + ranks - 1) % ranks, number, comm, &requests[0]);
  MPI_Isend(out, length, MPI_INT, (rank + 1) % ranks, number, comm, &requests[1]);
}

/* How many of its ints are wrong. */
static inline int check_message(int number, MPI_Comm comm, const int* in, int length) {
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < length; ++i)
    wrong += in[i] != (rank + ranks - 1) % ranks * 1000 + number * 10 + i;
  return wrong;
}
