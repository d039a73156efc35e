/* late_word: a preload by which rank 1 says its second word of haichi's roll call seconds late: it
 * is held up between two messages, as by a machine with too much to do.
 * Build: mpicc -O2 -fPIC -shared -o libword.so late_word.c; load it behind the shim. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  static int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  static int calls;
  int rank = 0;
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1 && ++calls == 2) sleep(6);
  return next(data, count, type, to, tag, comm, request);
}
