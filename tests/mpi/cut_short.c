/* A job that is cut short in the middle of collective writes. Each rank writes a strided part of
 * DIRECTORY/cut.dat again and again. Behind CALLS calls it makes the file DIRECTORY/reached-<rank>,
 * with its process id, and then: with "abort", rank 1 ends the job by MPI_Abort(comm, 7); with
 * "kill", all go on writing until somebody kills them; with "exchange", the same with MPI_Alltoall
 * and MPI_Ialltoall of 1 KiB in place of the writes; with "finish", all come to MPI_Finalize; with
 * "limit" too, but no file may become larger than the data from there on; with "close" too, but
 * rank 1 puts a file of its own behind the descriptor of the log. Usage: cut_short DIRECTORY CALLS
 * HOW */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BLOCK 1024
#define BLOCKS 16

static void write_once(MPI_File file) {
  static char data[BLOCK * BLOCKS];
  MPI_File_write_at_all(file, 0, data, (int)sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void exchange_once(void) {
  enum { MOST = 64 };
  static char out[BLOCK * MOST], in[BLOCK * MOST];
  MPI_Request request;
  MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Ialltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void say_reached(const char* folder, int rank) {
  char name[4096], whole[4096];
  snprintf(name, sizeof name, "%s/.reached-%d", folder, rank);
  snprintf(whole, sizeof whole, "%s/reached-%d", folder, rank);
  FILE* const out = fopen(name, "w");
  if (!out) MPI_Abort(MPI_COMM_WORLD, 3);
  fprintf(out, "%d\n", (int)getpid());
  fclose(out);
  rename(name, whole);
}

/* As a program does that becomes a daemon: what it opens then gets the numbers of what was closed.
 */
static void take_all_numbers(const char* folder) {
  char name[4096];
  snprintf(name, sizeof name, "%s/own.dat", folder);
  for (int fd = 3; fd < 256; ++fd) {
    char target[4096], link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, target, sizeof target - 1);
    if (n < 0) continue;
    target[n] = 0;
    if (!strstr(target, ".log-")) continue;
    FILE* const own = fopen(name, "w");
    if (!own || dup2(fileno(own), fd) != fd) MPI_Abort(MPI_COMM_WORLD, 4);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/cut.dat", argv[1]);
  MPI_Datatype block, filetype;
  MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, (MPI_Aint)BLOCK * size, &filetype);
  MPI_Type_commit(&filetype);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))
    MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_File_set_view(file, (MPI_Offset)BLOCK * rank, MPI_BYTE, filetype, "native", MPI_INFO_NULL);
  const int exchanges = !strcmp(argv[3], "exchange");
  for (int i = 0; i < atoi(argv[2]); ++i)
    if (exchanges)
      exchange_once();
    else
      write_once(file);
  say_reached(argv[1], rank);
  while (exchanges) exchange_once();
  if (!strcmp(argv[3], "abort") && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
  if (!strcmp(argv[3], "abort") || !strcmp(argv[3], "kill"))
    for (;;) write_once(file);
  if (!strcmp(argv[3], "limit")) {
    const struct rlimit most = {(rlim_t)size * BLOCK * BLOCKS, (rlim_t)size * BLOCK * BLOCKS};
    setrlimit(RLIMIT_FSIZE, &most);
  }
  if (!strcmp(argv[3], "close") && rank == 1) take_all_numbers(argv[1]);
  for (int i = 0; i < 20; ++i) write_once(file);
  MPI_File_close(&file);
  MPI_Type_free(&filetype);
  MPI_Type_free(&block);
  MPI_Finalize();
  return 0;
}
