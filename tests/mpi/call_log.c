/* A tool that notes the calls of a program which it knows: "name bytes peer", a line each, in the
 * file CALL_LOG.rank. Bytes are those of this rank's part; peer is a rank of the communicator, or
 * -1. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* file;
static int begun;

static void note(const char* name, long count, MPI_Datatype type, int peer) {
  int size = 0, rank = 0;
  if (!begun) return;
  if (!file) {
    char path[4096];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", getenv("CALL_LOG"), rank);
    file = fopen(path, "w");
    if (!file) abort();
  }
  if (count > 0) PMPI_Type_size(type, &size);
  fprintf(file, "%s %ld %d\n", name, count * size, peer);
}

static long sum(const int* counts, MPI_Comm comm) {
  int ranks;
  long all = 0;
  PMPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; ++i) all += counts[i];
  return all;
}

int MPI_Send(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  note("Send", n, type, to);
  return PMPI_Send(data, n, type, to, tag, comm);
}
int MPI_Ssend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  note("Ssend", n, type, to);
  return PMPI_Ssend(data, n, type, to, tag, comm);
}
int MPI_Recv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* s) {
  note("Recv", n, type, from < 0 ? -1 : from);
  return PMPI_Recv(data, n, type, from, tag, comm, s);
}
int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  note("Isend", n, type, to);
  return PMPI_Isend(data, n, type, to, tag, comm, request);
}
int MPI_Irecv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  note("Irecv", n, type, from < 0 ? -1 : from);
  return PMPI_Irecv(data, n, type, from, tag, comm, request);
}
int MPI_Sendrecv(const void* out, int n, MPI_Datatype type, int to, int tag, void* in, int m,
                 MPI_Datatype of, int from, int other, MPI_Comm comm, MPI_Status* status) {
  note("Sendrecv", n, type, to < 0 ? -1 : to);
  return PMPI_Sendrecv(out, n, type, to, tag, in, m, of, from, other, comm, status);
}
int MPI_Barrier(MPI_Comm comm) {
  begun = 1;
  return PMPI_Barrier(comm);
}
int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  note("Bcast", n, type, root);
  return PMPI_Bcast(data, n, type, root, comm);
}
int MPI_Allreduce(const void* out, void* in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  note("Allreduce", n, type, -1);
  return PMPI_Allreduce(out, in, n, type, op, comm);
}
int MPI_Alltoall(const void* out, int n, MPI_Datatype type, void* in, int m, MPI_Datatype of,
                 MPI_Comm comm) {
  note("Alltoall", n, type, -1);
  return PMPI_Alltoall(out, n, type, in, m, of, comm);
}
int MPI_Alltoallv(const void* out, const int* n, const int* at, MPI_Datatype type, void* in,
                  const int* m, const int* to, MPI_Datatype of, MPI_Comm comm) {
  note("Alltoallv", sum(n, comm), type, -1);
  return PMPI_Alltoallv(out, n, at, type, in, m, to, of, comm);
}
int MPI_Neighbor_alltoall(const void* out, int n, MPI_Datatype type, void* in, int m,
                          MPI_Datatype of, MPI_Comm comm) {
  note("Neighbor_alltoall", n, type, -1);
  return PMPI_Neighbor_alltoall(out, n, type, in, m, of, comm);
}

int MPI_Put(const void* data, int n, MPI_Datatype type, int to, MPI_Aint at, int m, MPI_Datatype of,
            MPI_Win window) {
  note("Put", n, type, to);
  return PMPI_Put(data, n, type, to, at, m, of, window);
}

int MPI_Finalize(void) {
  if (file && fclose(file)) abort();
  return PMPI_Finalize();
}
