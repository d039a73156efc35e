/* An MPI_Alltoall for each size of blocks, on the first 3, 4, ... ranks; all bytes are checked.
 * Usage: alltoall_seen BYTES... Rank 0 prints for each: "seen RANKS BYTES " and what seen.c, which
 * has to be preloaded, saw of it. Exit code 1 if a byte was wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* seen;

static unsigned char byte_of(int from, int to) { return (unsigned char)(from * 37 + to * 11 + 3); }

static int one(MPI_Comm comm, int block) {
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  unsigned char* out = malloc((size_t)ranks * block);
  unsigned char* in = calloc((size_t)ranks, block);
  for (int i = 0; i < ranks * block; ++i) out[i] = byte_of(rank, i / block);
  MPI_Barrier(comm);
  seen[0] = '\0';
  MPI_Alltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, comm);
  if (rank == 0) printf("seen %d %d %s\n", ranks, block, seen);
  for (int i = 0; i < ranks * block; ++i) wrong += in[i] != byte_of(i / block, rank);
  free(out);
  free(in);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0, wrong_anywhere;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  seen = dlsym(RTLD_DEFAULT, "alltoall_seen");
  if (!seen) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int some = 3; some <= ranks; ++some) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm == MPI_COMM_NULL) continue;
    for (int i = 1; i < argc; ++i) wrong += one(comm, atoi(argv[i]));
    MPI_Comm_free(&comm);
  }
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong_anywhere != 0;
}
