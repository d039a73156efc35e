/* nth_call: a preload that makes one call of an MPI function fail on one rank of MPI_COMM_WORLD,
 * and counts what is made and not given back.
 *   NTH_CALL_FUNCTION  its name without MPI_, one of those below
 *   NTH_CALL           the first call that fails, counted from 1
 *   NTH_CALL_RANK      the rank
 *   NTH_CALL_MADE      whether the call is made all the same, as one that fails at its end (1), or
 *                      not at all (0); "lost": it is made, and the rank does not get what it made
 *   NTH_CALL_LEFT      a path: in MPI_Finalize each rank writes what it has left to PATH.RANK, a
 *                      line for each kind that was ever made: its name and how many
 * Build: mpicc -O2 -fPIC -shared -o libnth_call.so nth_call.c */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum Kind { kWindow, kFile, kCommunicator, kDatatype, kGroup, kInfo, kRequest, kKinds };
static const char* const kNames[kKinds] = {"window", "file", "communicator", "datatype",
                                           "group",  "info", "request"};
static long made_of[kKinds], freed_of[kKinds];

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

static int loses(void) { return strcmp(word("NTH_CALL_MADE"), "lost") == 0; }

static int is_made(int failing) { return !failing || loses() || atoi(word("NTH_CALL_MADE")); }

/* With what is done behind the call, where it was made and went well. */
#define WITH(name, parameters, arguments, behind)                    \
  int MPI_##name parameters {                                        \
    static int calls;                                                \
    const int failing = fails(#name, &calls);                        \
    const int made = is_made(failing);                               \
    const int code = made ? PMPI_##name arguments : MPI_SUCCESS;     \
    if (made && code == MPI_SUCCESS) {                               \
      behind;                                                        \
    }                                                                \
    return failing && code == MPI_SUCCESS ? MPI_ERR_NO_SPACE : code; \
  }

#define FAILING(name, parameters, arguments) WITH(name, parameters, arguments, )
#define MAKING(name, kind, none, parameters, arguments) \
  WITH(name, parameters, arguments, {                   \
    if (*handle != none) ++made_of[kind];               \
    if (failing && loses()) *handle = none;             \
  })
#define FREEING(name, kind, parameters, arguments) \
  WITH(name, parameters, arguments, ++freed_of[kind])

FAILING(Allgather,
        (const void* out, int count, MPI_Datatype type, void* in, int in_count,
         MPI_Datatype in_type, MPI_Comm comm),
        (out, count, type, in, in_count, in_type, comm))
FAILING(Send, (const void* memory, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm),
        (memory, count, type, rank, tag, comm))

MAKING(Win_create, kWindow, MPI_WIN_NULL,
       (void* memory, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* handle),
       (memory, size, unit, info, comm, handle))
MAKING(Win_allocate, kWindow, MPI_WIN_NULL,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* memory, MPI_Win* handle),
       (size, unit, info, comm, memory, handle))
FAILING(Win_fence, (int assertion, MPI_Win window), (assertion, window))
FAILING(Win_lock_all, (int assertion, MPI_Win window), (assertion, window))
FREEING(Win_free, kWindow, (MPI_Win * handle), (handle))

MAKING(File_open, kFile, MPI_FILE_NULL,
       (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* handle),
       (comm, name, mode, info, handle))
FAILING(File_set_view,
        (MPI_File file, MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype,
         const char* representation, MPI_Info info),
        (file, at, etype, filetype, representation, info))
FAILING(File_write_at,
        (MPI_File file, MPI_Offset at, const void* memory, int count, MPI_Datatype type,
         MPI_Status* status),
        (file, at, memory, count, type, status))
FREEING(File_close, kFile, (MPI_File * handle), (handle))

MAKING(Comm_dup, kCommunicator, MPI_COMM_NULL, (MPI_Comm comm, MPI_Comm* handle), (comm, handle))
MAKING(Comm_split, kCommunicator, MPI_COMM_NULL,
       (MPI_Comm comm, int colour, int key, MPI_Comm* handle), (comm, colour, key, handle))
MAKING(Comm_split_type, kCommunicator, MPI_COMM_NULL,
       (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* handle),
       (comm, type, key, info, handle))
MAKING(Cart_create, kCommunicator, MPI_COMM_NULL,
       (MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder,
        MPI_Comm* handle),
       (comm, dimensions, sizes, periods, reorder, handle))
MAKING(Intercomm_create, kCommunicator, MPI_COMM_NULL,
       (MPI_Comm half, int leader, MPI_Comm peers, int other, int tag, MPI_Comm* handle),
       (half, leader, peers, other, tag, handle))
MAKING(Intercomm_merge, kCommunicator, MPI_COMM_NULL, (MPI_Comm both, int high, MPI_Comm* handle),
       (both, high, handle))
FREEING(Comm_free, kCommunicator, (MPI_Comm * handle), (handle))

MAKING(Type_vector, kDatatype, MPI_DATATYPE_NULL,
       (int count, int length, int stride, MPI_Datatype old, MPI_Datatype* handle),
       (count, length, stride, old, handle))
FAILING(Type_commit, (MPI_Datatype * type), (type))
FREEING(Type_free, kDatatype, (MPI_Datatype * handle), (handle))

MAKING(Comm_group, kGroup, MPI_GROUP_NULL, (MPI_Comm comm, MPI_Group* handle), (comm, handle))
MAKING(Group_incl, kGroup, MPI_GROUP_NULL,
       (MPI_Group group, int count, const int ranks[], MPI_Group* handle),
       (group, count, ranks, handle))
FREEING(Group_free, kGroup, (MPI_Group * handle), (handle))

MAKING(Info_create, kInfo, MPI_INFO_NULL, (MPI_Info * handle), (handle))
FREEING(Info_free, kInfo, (MPI_Info * handle), (handle))

MAKING(Send_init, kRequest, MPI_REQUEST_NULL,
       (const void* memory, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
        MPI_Request* handle),
       (memory, count, type, rank, tag, comm, handle))
MAKING(Recv_init, kRequest, MPI_REQUEST_NULL,
       (void* memory, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
        MPI_Request* handle),
       (memory, count, type, rank, tag, comm, handle))
FREEING(Request_free, kRequest, (MPI_Request * handle), (handle))

static void write_left(void) {
  char path[4096];
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s.%d", word("NTH_CALL_LEFT"), rank);
  FILE* const file = fopen(path, "w");
  if (file == NULL) return;
  for (int i = 0; i < kKinds; ++i)
    if (made_of[i] > 0) fprintf(file, "%s %ld\n", kNames[i], made_of[i] - freed_of[i]);
  fclose(file);
}

int MPI_Finalize(void) {
  if (*word("NTH_CALL_LEFT") != 0) write_left();
  return PMPI_Finalize();
}
