/* Steps without end, until a thread of this process kills it: `killed SECONDS RANK`; RANK -1 is all
   of them. Each step is a message round the ring, with a tag that comes again every fifth time, and
   every seventh step a reduction. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void* kill_this(void* after_us) {
  usleep(*(useconds_t*)after_us);
  kill(getpid(), SIGKILL);
  return NULL;
}

int main(int argc, char** argv) {
  int rank, size, provided, out = 0, in, sum;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  useconds_t after_us = (useconds_t)(1e6 * atof(argv[1]));
  const int victim = atoi(argv[2]);
  pthread_t thread;
  MPI_Barrier(MPI_COMM_WORLD);
  if (victim == rank || victim < 0) pthread_create(&thread, NULL, kill_this, &after_us);
  for (int step = 0;; ++step) {
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, step % 5, &in, 1, MPI_INT,
                 (rank + size - 1) % size, step % 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (step % 7 == 0) MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}
