/* A random MPI program, decided by a seed: `random_calls SEED STEPS FOLDER [KINDS]`.
 *
 * All ranks draw the same numbers, so each knows what the others do in a step. What a rank
 * receives, reads or finds in a window goes into its sum; sums do not depend on what MPI leaves
 * open, such as the order of messages from any rank. Rank 0 prints them all. */
#ifndef RANDOM_CALLS_H
#define RANDOM_CALLS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Open MPI 5 says it is of MPI 3.1, and has these. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI4_CALLS 1
#else
#define HAS_MPI4_CALLS 0
#endif

enum { kSlots = 6 };
enum Shape { kPlain, kCart, kGraph, kDistGraph };

/* A communicator of the step. Between groups, `peers` is the number of ranks on the other side. */
struct Comm {
  MPI_Comm comm;
  int rank, size, between, peers;
  enum Shape shape;
};

extern int world_rank, world_size, threads_allowed;
extern const char* folder;

/* The same on all ranks: a number below `below`. */
int draw(int below);
/* One in `times` is true. */
#define SOMETIMES(times) (draw(times) == 0)

void* room(size_t bytes);
/* Bytes that `seed` tells. */
void fill(void* data, size_t bytes, unsigned seed);
/* Into this rank's sum, in whatever order. */
void take(const void* data, size_t bytes);
void take_number(long number);
/* Ends the job: something is not as it has to be. */
void broken(const char* what);

/* A type and a count of it, in a buffer of `bytes`. The type is to be freed. */
struct Data {
  MPI_Datatype type;
  int count;
  size_t bytes;
};
struct Data draw_data(void);
int draw_bytes(void);
/* Whom this rank sends to and receives from, `shift` ranks on; MPI_PROC_NULL where there is none.
 */
void neighbours(const struct Comm* c, int shift, int* to, int* from);

/* The number of a communicator's rank 0 in the world, for names of files. */
int leader_of(const struct Comm* c);

/* One step of a kind. */
void step_messages(const struct Comm* c);
void step_any_source(const struct Comm* c);
void step_persistent(const struct Comm* c);
void step_partitioned(const struct Comm* c);
void step_odd_requests(const struct Comm* c);
void step_collectives(const struct Comm* c);
void step_varying(const struct Comm* c);
void step_nonblocking(const struct Comm* c);
void step_kept_collectives(const struct Comm* c);
void step_neighbours(const struct Comm* c);
void step_between(const struct Comm* c);
void step_window(const struct Comm* c);
void step_posted_window(const struct Comm* c);
void step_file(const struct Comm* c);
void step_shared_file(const struct Comm* c);
void step_threads(const struct Comm* c);
void step_session(const struct Comm* c);
void step_spawn(const struct Comm* c);
void step_refused(const struct Comm* c);
void step_large_counts(const struct Comm* c);

/* Of a program that step_spawn has started. */
int child(void);

#endif
