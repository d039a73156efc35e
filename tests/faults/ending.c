/* ending: frees communicators together with other jobs.
 *
 *   mpiexec -n N ending FOLDER JOB ROUNDS CALLS
 * In each round: CALLS times MPI_Alltoall with blocks of 16 << JOB bytes in a communicator of its
 * own; the file FOLDER/ready.ROUND.JOB; waits for FOLDER/free.ROUND; frees the communicator;
 * FOLDER/freed.ROUND.JOB; waits for FOLDER/next.ROUND. Gives up after a minute without an answer.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char* folder;

static void say(const char* what, int round, int job) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%d.%d", folder, what, round, job);
  const int fd = open(path, O_WRONLY | O_CREAT, 0666);
  if (fd < 0) MPI_Abort(MPI_COMM_WORLD, 3);
  close(fd);
}

static void wait_for(const char* what, int round) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%d", folder, what, round);
  for (int tries = 0; access(path, F_OK) != 0; ++tries) {
    if (tries > 60000) MPI_Abort(MPI_COMM_WORLD, 4);
    usleep(1000);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 5) MPI_Abort(MPI_COMM_WORLD, 2);
  folder = argv[1];
  const int job = atoi(argv[2]), rounds = atoi(argv[3]), calls = atoi(argv[4]);
  const int block = 16 << job;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* out = calloc((size_t)ranks, (size_t)block);
  char* in = malloc((size_t)ranks * (size_t)block);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < calls; ++i) MPI_Alltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, comm);
    if (rank == 0) say("ready", round, job);
    wait_for("free", round);
    MPI_Comm_free(&comm);
    if (rank == 0) say("freed", round, job);
    wait_for("next", round);
  }
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
