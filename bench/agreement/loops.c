/* The timed sequences of OSU's micro-benchmarks and IMB, written again: what others measure with,
 * to hold `haichi measure` against; bench/agreement/run.py starts it. Two ranks, a core each.
 *
 *   mpiexec -n 2 loops KERNEL BYTES BLOCKS
 * pingpong  Send, Recv; the other Recv, Send; half of a round trip (osu_latency, IMB PingPong)
 * barrier   Barrier after Barrier (osu_barrier)
 * alltoall  each call timed, a Barrier behind it, the mean of the ranks (osu_alltoall)
 * putflush  Put, Win_flush, within Win_lock (osu_put_latency -s flush, IMB-RMA)
 *
 * As they do, it reads the clock once for many calls, and prints seconds a call: but the median of
 * so many blocks of half a millisecond or less, where they print the mean of all, which on a
 * machine that has other work is the other work's. Exit code 2 for bad usage. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, calls;
static char *out, *in;
static MPI_Win window;

/* So many that a block is likely to run through undisturbed. */
static int calls_of(int bytes) { return bytes <= 4096 ? 100 : bytes <= 65536 ? 20 : 2; }

/* Page by page, and written to, as OSU's are. */
static char* memory_of(int bytes) {
  const size_t size = (2 * (size_t)bytes / 4096 + 1) * 4096;
  char* const memory = aligned_alloc(4096, size);
  memset(memory, 1, size);
  return memory;
}

static void bind_to_own_core(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(rank % sysconf(_SC_NPROCESSORS_ONLN), &set);
  sched_setaffinity(0, sizeof set, &set);
}

static double pingpong(int bytes) {
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) {
    if (rank == 0) MPI_Send(out, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - begin) / (2 * calls);
}

static double barrier(int bytes) {
  (void)bytes;
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) MPI_Barrier(MPI_COMM_WORLD);
  return (MPI_Wtime() - begin) / calls;
}

static double alltoall(int bytes) {
  double sum = 0;
  for (int i = 0; i < calls; ++i) {
    const double begin = MPI_Wtime();
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
    sum += MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return sum / calls;
}

static double putflush(int bytes) {
  const double begin = MPI_Wtime();
  for (int i = 0; rank == 0 && i < calls; ++i) {
    MPI_Put(out, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, window);
    MPI_Win_flush(1, window);
  }
  return (MPI_Wtime() - begin) / calls;
}

static int smaller_first(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    double (*run)(int bytes);
    int both;  // the mean of both ranks, and not the first one's
  } kernels[] = {{"pingpong", pingpong, 0},
                 {"barrier", barrier, 1},
                 {"alltoall", alltoall, 1},
                 {"putflush", putflush, 0}};
  int ranks, kernel = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  while (argc == 4 && kernel < 4 && strcmp(argv[1], kernels[kernel].name) != 0) ++kernel;
  if (argc != 4 || kernel == 4 || ranks != 2) {
    if (rank == 0) fprintf(stderr, "loops: KERNEL BYTES BLOCKS, on two ranks; see its head\n");
    MPI_Barrier(MPI_COMM_WORLD); /* nobody ends the job before that is said */
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  bind_to_own_core();
  const int bytes = atoi(argv[2]), blocks = atoi(argv[3]);
  calls = calls_of(bytes);
  out = memory_of(bytes);
  in = memory_of(bytes);
  char* memory;
  MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock_all(0, window);
  double* const seconds = calloc((size_t)blocks, sizeof *seconds);
  for (int i = 0; i < blocks; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double mine = kernels[kernel].run(bytes);
    double sum = mine;
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    seconds[i] = kernels[kernel].both ? sum / ranks : mine;
  }
  qsort(seconds, (size_t)blocks, sizeof *seconds, smaller_first);
  if (rank == 0) printf("%.12f\n", seconds[blocks / 2]);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
