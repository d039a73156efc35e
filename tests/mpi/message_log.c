/* A tool behind haichi that notes the messages which each rank sends under tag TAG on communicators
 * of its own, in the order of their issue: "rank peer bytes", a line each, in the file
 * MESSAGE_LOG.rank, written in MPI_Finalize. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, "P" #name))
#define ALSO_PMPI(name, parameters) int P##name parameters __attribute__((alias(#name)));

static struct message {
  int peer, bytes;
}* messages;
static size_t count, room;

int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (tag == TAG && comm != MPI_COMM_WORLD) {
    if (count == room) messages = realloc(messages, sizeof *messages * (room = 2 * room + 1024));
    if (!messages) abort();
    messages[count++] = (struct message){to, n};
  }
  return NEXT(MPI_Isend)(data, n, type, to, tag, comm, request);
}
ALSO_PMPI(MPI_Isend, (const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*))

int MPI_Finalize(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char path[4096];
  snprintf(path, sizeof path, "%s.%d", getenv("MESSAGE_LOG"), rank);
  FILE* file = fopen(path, "w");
  if (!file) abort();
  for (size_t i = 0; i < count; ++i)
    fprintf(file, "%d %d %d\n", rank, messages[i].peer, messages[i].bytes);
  if (fclose(file)) abort();
  return NEXT(MPI_Finalize)();
}
ALSO_PMPI(MPI_Finalize, (void))
