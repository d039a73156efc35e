/* twice: a preload before haichi's under which every blocking collective that haichi may take is
 * made twice. The first call of a communicator is never haichi's, so that programs that make each
 * call once, such as tests, would not test it.
 *
 * A call again gives the same bytes, but for an all-to-all in place: that exchanges what lies
 * there, and the third time it is as after the first. What is refused is not made again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

#define TWICE(name, in_place_swaps, parameters, arguments)                        \
  int name parameters {                                                           \
    static __typeof__(&name) next;                                                \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                 \
    const int again = (in_place_swaps) && sendbuf == MPI_IN_PLACE ? 2 : 1;        \
    int code = next arguments;                                                    \
    for (int i = 0; i < again && code == MPI_SUCCESS; ++i) code = next arguments; \
    return code;                                                                  \
  }                                                                               \
  int P##name parameters __attribute__((alias(#name)));

#define BLOCK(count)                                                                        \
  (const void* sendbuf, count n, MPI_Datatype send, void* into, count m, MPI_Datatype type, \
   MPI_Comm c)
#define BLOCK_ARGUMENTS (sendbuf, n, send, into, m, type, c)
#define GATHERV(count, place)                                                                      \
  (const void* sendbuf, count n, MPI_Datatype send, void* into, const count m[], const place at[], \
   MPI_Datatype type, MPI_Comm c)
#define GATHERV_ARGUMENTS (sendbuf, n, send, into, m, at, type, c)
#define ALLTOALLV(count, place)                                                             \
  (const void* sendbuf, const count n[], const place from[], MPI_Datatype send, void* into, \
   const count m[], const place at[], MPI_Datatype type, MPI_Comm c)
#define ALLTOALLW(count, place)                                                         \
  (const void* sendbuf, const count n[], const place from[], const MPI_Datatype send[], \
   void* into, const count m[], const place at[], const MPI_Datatype type[], MPI_Comm c)
#define VECTOR_ARGUMENTS (sendbuf, n, from, send, into, m, at, type, c)

TWICE(MPI_Alltoall, 1, BLOCK(int), BLOCK_ARGUMENTS)
TWICE(MPI_Alltoallv, 1, ALLTOALLV(int, int), VECTOR_ARGUMENTS)
TWICE(MPI_Alltoallw, 1, ALLTOALLW(int, int), VECTOR_ARGUMENTS)
TWICE(MPI_Allgather, 0, BLOCK(int), BLOCK_ARGUMENTS)
TWICE(MPI_Allgatherv, 0, GATHERV(int, int), GATHERV_ARGUMENTS)
TWICE(MPI_Neighbor_alltoall, 0, BLOCK(int), BLOCK_ARGUMENTS)
TWICE(MPI_Neighbor_alltoallv, 0, ALLTOALLV(int, int), VECTOR_ARGUMENTS)
TWICE(MPI_Neighbor_alltoallw, 0, ALLTOALLW(int, MPI_Aint), VECTOR_ARGUMENTS)
TWICE(MPI_Neighbor_allgather, 0, BLOCK(int), BLOCK_ARGUMENTS)
TWICE(MPI_Neighbor_allgatherv, 0, GATHERV(int, int), GATHERV_ARGUMENTS)

#if MPI_VERSION >= 4
TWICE(MPI_Alltoall_c, 1, BLOCK(MPI_Count), BLOCK_ARGUMENTS)
TWICE(MPI_Alltoallv_c, 1, ALLTOALLV(MPI_Count, MPI_Aint), VECTOR_ARGUMENTS)
TWICE(MPI_Alltoallw_c, 1, ALLTOALLW(MPI_Count, MPI_Aint), VECTOR_ARGUMENTS)
TWICE(MPI_Allgather_c, 0, BLOCK(MPI_Count), BLOCK_ARGUMENTS)
TWICE(MPI_Allgatherv_c, 0, GATHERV(MPI_Count, MPI_Aint), GATHERV_ARGUMENTS)
TWICE(MPI_Neighbor_alltoall_c, 0, BLOCK(MPI_Count), BLOCK_ARGUMENTS)
TWICE(MPI_Neighbor_alltoallv_c, 0, ALLTOALLV(MPI_Count, MPI_Aint), VECTOR_ARGUMENTS)
TWICE(MPI_Neighbor_alltoallw_c, 0, ALLTOALLW(MPI_Count, MPI_Aint), VECTOR_ARGUMENTS)
TWICE(MPI_Neighbor_allgather_c, 0, BLOCK(MPI_Count), BLOCK_ARGUMENTS)
TWICE(MPI_Neighbor_allgatherv_c, 0, GATHERV(MPI_Count, MPI_Aint), GATHERV_ARGUMENTS)
#endif
