/* Shows what reached an MPI program: its rank, arguments, standard input, LD_PRELOAD and settings.
 *
 * argv[1] may be exit=N (every rank returns N) or kill=N (every rank sends itself signal N) or
 * stdin (rank 0 reads standard input); then the arguments follow. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char** environ;

static void show_preloaded(int rank) {
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  char last[4096] = "";
  while (maps && fgets(line, sizeof line, maps)) {
    char* path = strchr(line, '/');
    if (!path || (!strstr(path, "libhaichi-") && !strstr(path, "extra")) || !strcmp(path, last))
      continue;
    snprintf(last, sizeof last, "%s", path);
    printf("%d mapped %s", rank, path);
  }
  if (maps) fclose(maps);
}

static void show_input(void) {
  long bytes = 0, sum = 0;
  for (int c = getchar(); c != EOF; c = getchar()) {
    ++bytes;
    sum += c;
  }
  printf("0 read %ld bytes, sum %ld\n", bytes, sum);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc; ++i) printf("%d argument [%s]\n", rank, argv[i]);
  printf("%d preload %s\n", rank, getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "(none)");
  for (char** entry = environ; *entry; ++entry)
    if (!strncmp(*entry, "HAICHI_", 7)) printf("%d setting %s\n", rank, *entry);
  show_preloaded(rank);
  if (rank == 0 && argc > 1 && !strcmp(argv[1], "stdin")) show_input();
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && !strncmp(argv[1], "kill=", 5)) raise(atoi(argv[1] + 5));
  MPI_Finalize();
  return argc > 1 && !strncmp(argv[1], "exit=", 5) ? atoi(argv[1] + 5) : 0;
}
