/* nth_call: a preload that makes one call of an MPI function fail on one rank of MPI_COMM_WORLD.
 *   NTH_CALL_FUNCTION  its name without MPI_, one of those below
 *   NTH_CALL           the first call that fails, counted from 1
 *   NTH_CALL_RANK      the rank
 *   NTH_CALL_MADE      whether the call is made all the same, as one that fails at its end (1), or
 *                      not at all (0)
 * Build: mpicc -O2 -fPIC -shared -o libnth_call.so nth_call.c */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static const char* word(const char* name) {
  const char* const value = getenv(name);
  return value ? value : "";
}

/* Whether this call is the one. */
static int fails(const char* function, int* calls) {
  int rank = -1;
  if (strcmp(function, word("NTH_CALL_FUNCTION")) != 0) return 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == atoi(word("NTH_CALL_RANK")) && ++*calls == atoi(word("NTH_CALL"));
}

#define FAILING(name, parameters, arguments)                         \
  int MPI_##name parameters {                                        \
    static int calls;                                                \
    const int failing = fails(#name, &calls);                        \
    const int made = !failing || atoi(word("NTH_CALL_MADE"));        \
    const int code = made ? PMPI_##name arguments : MPI_SUCCESS;     \
    return failing && code == MPI_SUCCESS ? MPI_ERR_NO_SPACE : code; \
  }

FAILING(Allgather,
        (const void* out, int count, MPI_Datatype type, void* in, int in_count,
         MPI_Datatype in_type, MPI_Comm comm),
        (out, count, type, in, in_count, in_type, comm))
FAILING(Send, (const void* memory, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm),
        (memory, count, type, rank, tag, comm))
FAILING(Win_fence, (int assertion, MPI_Win window), (assertion, window))
FAILING(File_write_at,
        (MPI_File file, MPI_Offset at, const void* memory, int count, MPI_Datatype type,
         MPI_Status* status),
        (file, at, memory, count, type, status))
FAILING(File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),
        (comm, name, mode, info, file))
FAILING(File_close, (MPI_File * file), (file))
