/* A preload that sees by which algorithm a stock MPI library carries out an MPI_Alltoall, and
 * changes nothing. It writes to `alltoall_seen`:
 *
 * - Open MPI's algorithms are functions of libmpi that its component `tuned` calls: their names.
 * - MPICH's are not to be seen from outside, but its messages are where they go through UCX: an R
 *   for each receive and an S for each send, as they are posted. Pairwise is RS for each other
 * rank, scattered posts all receives first, Bruck has fewer.
 *
 * Without headers of MPI or UCX: one object for all of them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

char alltoall_seen[4096];

static void add(const char* text) {
  if (strlen(alltoall_seen) + strlen(text) < sizeof alltoall_seen) strcat(alltoall_seen, text);
}

/* The arguments of MPI_Alltoall, the module, and of linear_sync the messages at once, which the
 * others leave alone. */
typedef int Alltoall(const void*, int, void*, void*, int, void*, void*, void*, int);

#define ALLTOALL(name)                                                                             \
  int ompi_coll_base_alltoall_intra_##name(const void* out, int sends, void* sent, void* in,       \
                                           int receives, void* received, void* comm, void* module, \
                                           int at_once) {                                          \
    static Alltoall* real;                                                                         \
    if (!real) real = (Alltoall*)dlsym(RTLD_NEXT, "ompi_coll_base_alltoall_intra_" #name);         \
    add(#name);                                                                                    \
    return real(out, sends, sent, in, receives, received, comm, module, at_once);                  \
  }

ALLTOALL(basic_linear)
ALLTOALL(pairwise)
ALLTOALL(bruck)
ALLTOALL(linear_sync)

void* ucp_tag_send_nbx(void* endpoint, const void* buffer, size_t count, uint64_t tag,
                       const void* parameters) {
  static void* (*real)(void*, const void*, size_t, uint64_t, const void*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
  add("S");
  return real(endpoint, buffer, count, tag, parameters);
}

void* ucp_tag_recv_nbx(void* worker, void* buffer, size_t count, uint64_t tag, uint64_t mask,
                       const void* parameters) {
  static void* (*real)(void*, void*, size_t, uint64_t, uint64_t, const void*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "ucp_tag_recv_nbx");
  add("R");
  return real(worker, buffer, count, tag, mask, parameters);
}
