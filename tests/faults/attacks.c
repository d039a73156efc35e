/* attacks: what programs do to the process, the file or the machine beside their MPI calls, one
 * attack a run, by its name:
 *
 *   mpiexec -n N attacks FOLDER NAME
 *
 * In the midst of it the program writes and reads a file collectively and exchanges blocks, and
 * checks every byte. Rank 0 prints "ok NAME"; "closed" has no standard output and says so in
 * FOLDER/verdict. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../mpi/check.h"

enum { PIECES = 400, SIZE = 100, BYTES = PIECES * SIZE, BLOCK = 256, CALLS = 12 };

static unsigned char mine[BYTES], back[BYTES];

static unsigned char value(int of, int round, long i) {
  return (unsigned char)(of * 31 + round * 13 + i * 7 + 1);
}

/* Rank r has every ranks-th piece from the r-th on. */
static void set_view(MPI_File file) {
  MPI_Datatype view;
  MPI_Type_vector(PIECES, SIZE, SIZE * ranks, MPI_BYTE, &view);
  MPI_Type_commit(&view);
  EXPECT_OK(MPI_File_set_view(file, rank * SIZE, MPI_BYTE, view, "native", MPI_INFO_NULL));
  MPI_Type_free(&view);
}

static void write_round(MPI_File file, int round) {
  MPI_Status status;
  for (long i = 0; i < BYTES; ++i) mine[i] = value(rank, round, i);
  EXPECT_OK(MPI_File_write_at_all(file, 0, mine, BYTES, MPI_BYTE, &status));
  EXPECT(count_of(&status, MPI_BYTE) == BYTES, "wrote %d bytes", count_of(&status, MPI_BYTE));
}

static void read_round(MPI_File file, int round) {
  MPI_Status status;
  memset(back, 0, BYTES);
  EXPECT_OK(MPI_File_read_at_all(file, 0, back, BYTES, MPI_BYTE, &status));
  for (long i = 0; i < BYTES; ++i)
    EXPECT(back[i] == value(rank, round, i), "byte %ld is %d", i, back[i]);
}

static void accesses(MPI_File file, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    write_round(file, round);
    sync_all(file);
    read_round(file, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void exchanges(void) {
  unsigned char out[16 * BLOCK], in[16 * BLOCK];
  for (int call = 0; call < CALLS; ++call) {
    memset(in, 0, sizeof in);
    for (int i = 0; i < ranks * BLOCK; ++i) out[i] = value(rank, call, i);
    MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < ranks * BLOCK; ++i)
      EXPECT(in[i] == value(i / BLOCK, call, rank * BLOCK + i % BLOCK), "all-to-all, byte %d", i);
    MPI_Allgather(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < ranks * BLOCK; ++i)
      EXPECT(in[i] == value(i / BLOCK, call, i % BLOCK), "all-gather, byte %d", i);
  }
}

/* The whole file by POSIX, on rank 0. */
static void look_at(const char* name, int round) {
  if (rank != 0) return;
  const size_t size = (size_t)BYTES * (size_t)ranks;
  unsigned char* all = malloc(size);
  const int fd = open(name, O_RDONLY | O_CLOEXEC);
  EXPECT(fd >= 0 && pread(fd, all, size, 0) == (ssize_t)size, "%s is short", name);
  if (fd >= 0) close(fd);
  for (long k = 0; k < (long)size; ++k) {
    const long piece = k / SIZE, i = piece / ranks * SIZE + k % SIZE;
    EXPECT(all[k] == value((int)(piece % ranks), round, i), "%s: byte %ld is %d", name, k, all[k]);
  }
  free(all);
}

static MPI_File open_with_view(void) {
  MPI_File file = open_new();
  set_view(file);
  return file;
}

static void plain(void) {
  MPI_File file = open_with_view();
  accesses(file, 2);
  exchanges();
  EXPECT_OK(MPI_File_close(&file));
  look_at(path, 1);
}

/* Signals that interrupt whatever waits. Threads of haichi's block them (src/base/worker_test.cpp);
 * an MPI library's may take one, with and without haichi. */
static volatile sig_atomic_t alarms;

static void on_alarm(int number) {
  (void)number;
  ++alarms;
}

static void storm(void) {
  struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  MPI_File file = open_with_view();
  accesses(file, 10);
  exchanges();
  EXPECT_OK(MPI_File_close(&file));
  setitimer(ITIMER_REAL, &never, NULL);
  EXPECT(alarms > 20, "only %d alarms", alarms);
  look_at(path, 9);
}

/* Children that inherit what is open, and leave by exit or stay a while. */
static void forks(void) {
  MPI_File file = open_with_view();
  pid_t children[8];
  for (int round = 0; round < 8; ++round) {
    write_round(file, round);
    children[round] = fork();
    if (children[round] == 0) {
      if (round % 2) usleep(200000);
      if (round % 4 < 2) _exit(0);
      fclose(stdout);
      exit(0);
    }
    sync_all(file);
    read_round(file, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  exchanges();
  EXPECT_OK(MPI_File_close(&file));
  file = open_with_view();
  accesses(file, 2);
  EXPECT_OK(MPI_File_close(&file));
  look_at(path, 1);
  for (int i = 0; i < 8; ++i) {
    int status = -1;
    waitpid(children[i], &status, 0);
    EXPECT(status == 0, "child %d ended with %d", i, status);
  }
}

/* The limit of descriptors is lowered to those that are open. */
static int highest_descriptor(void) {
  int highest = 0;
  for (int fd = 0; fd < 1024; ++fd)
    if (fcntl(fd, F_GETFD) >= 0) highest = fd;
  return highest;
}

static void limit_descriptors(int more) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = (rlim_t)(highest_descriptor() + 1 + more);
  EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0, "no limit");
}

static void no_more_descriptors(void) {
  MPI_File file = open_with_view();
  write_round(file, 0);
  limit_descriptors(0);
  accesses(file, 3);
  exchanges();
  EXPECT_OK(MPI_File_close(&file));
  look_at(path, 2);
  limit_descriptors(3);
  file = open_with_view();
  accesses(file, 4);
  EXPECT_OK(MPI_File_close(&file));
  look_at(path, 3);
  limit_descriptors(0); /* for MPI_Finalize, too */
}

/* Nothing may be written behind half of the file; the signal of that is ignored. */
static void files_end_early(void) {
  signal(SIGXFSZ, SIG_IGN);
  const long end = (long)BYTES * ranks / 2;
  struct rlimit limit;
  MPI_File file = open_with_view();
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = (rlim_t)end;
  setrlimit(RLIMIT_FSIZE, &limit);
  for (long i = 0; i < BYTES; ++i) mine[i] = value(rank, 3, i);
  int told = MPI_File_write_at_all(file, 0, mine, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), any = 0;
  told = told != MPI_SUCCESS;
  MPI_Allreduce(&told, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT(any, "wrote beyond the limit of files");
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
  sync_all(file);
  struct stat facts;
  EXPECT(stat(path, &facts) == 0 && facts.st_size <= end, "%ld bytes", (long)facts.st_size);
  accesses(file, 2);
  exchanges();
  EXPECT_OK(MPI_File_close(&file));
  look_at(path, 1);
}

/* Another file takes the name while the first is open: what is written belongs into the first. */
static void another_file_of_the_name(void) {
  char moved[5000];
  snprintf(moved, sizeof moved, "%s.moved", path);
  MPI_File file = open_with_view();
  if (rank == 0) {
    rename(path, moved);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    EXPECT(write(fd, "theirs", 6) == 6, "no other file");
    close(fd);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  accesses(file, 3);
  MPI_Request request;
  for (long i = 0; i < BYTES; ++i) mine[i] = value(rank, 7, i);
  EXPECT_OK(MPI_File_iwrite_at_all(file, 0, mine, BYTES, MPI_BYTE, &request));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_OK(MPI_File_close(&file));
  look_at(moved, 7);
  struct stat facts;
  EXPECT(stat(path, &facts) == 0 && facts.st_size == 6, "the other file has %ld bytes",
         (long)facts.st_size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(moved);
  exchanges();
}

static void no_name_any_more(void) {
  MPI_File file = open_with_view();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(path);
  MPI_Barrier(MPI_COMM_WORLD);
  accesses(file, 3);
  EXPECT_OK(MPI_File_close(&file));
  EXPECT(access(path, F_OK) != 0, "a file of that name has come back");
  exchanges();
}

/* Opened by a relative name, and the folder is left. */
static void elsewhere(void) {
  char name[] = "relative.dat", full[5000];
  snprintf(full, sizeof full, "%s/%s", folder, name);
  EXPECT(chdir(folder) == 0, "cannot go to %s", folder);
  if (rank == 0) unlink(name);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file = MPI_FILE_NULL;
  EXPECT_OK(
      MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  set_view(file);
  EXPECT(chdir("/") == 0, "cannot leave");
  accesses(file, 3);
  EXPECT_OK(MPI_File_sync(file));
  exchanges();
  EXPECT_OK(MPI_File_close(&file));
  look_at(full, 2);
  EXPECT(access("/relative.dat", F_OK) != 0, "a file in another folder");
}

/* Whoever opened the file may no longer do so. */
static void without_rights(void) {
  MPI_File file = open_with_view();
  chmod(path, 0);
  chmod(folder, 0700);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(seteuid(65534) == 0, "needs root");
  EXPECT(open(path, O_RDWR) < 0, "may still open it");
  accesses(file, 3);
  exchanges();
  EXPECT_OK(MPI_File_close(&file));
  EXPECT(seteuid(0) == 0, "not root again");
  look_at(path, 2);
}

/* As programs have it that are built with traps for floating point (gfortran -ffpe-trap). */
static void traps(void) {
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  for (int again = 0; again < 3; ++again) {
    MPI_File file = open_with_view();
    accesses(file, 4);
    exchanges();
    EXPECT_OK(MPI_File_close(&file));
    look_at(path, 3);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void no_environment(void) {
  clearenv();
  plain();
}

/* A rank's processors change under way. */
static void processors(void) {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  MPI_File file = open_with_view();
  for (int round = 0; round < 6; ++round) {
    int cpu = 0;
    for (int i = rank + round; !CPU_ISSET(cpu, &all) || i-- > 0;) cpu = (cpu + 1) % CPU_SETSIZE;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    accesses(file, 1);
    exchanges();
  }
  EXPECT_OK(MPI_File_close(&file));
  look_at(path, 0);
}

/* Types and blocks without a byte, between others that have some. */
static void nothing(void) {
  MPI_Datatype none, nowhere;
  MPI_Type_vector(0, 5, 7, MPI_INT, &none);
  MPI_Type_commit(&none);
  MPI_Type_create_resized(none, 0, 64, &nowhere);
  MPI_Type_commit(&nowhere);
  MPI_File file = open_with_view();
  MPI_Status status;
  for (int round = 0; round < 3; ++round) {
    const int last = rank == ranks - 1;
    for (long i = 0; i < BYTES; ++i) mine[i] = value(rank, round, i);
    EXPECT_OK(
        MPI_File_write_at_all(file, 0, mine, last ? 3 : BYTES, last ? none : MPI_BYTE, &status));
    sync_all(file);
    memset(back, 0, BYTES);
    EXPECT_OK(
        MPI_File_read_at_all(file, 0, back, last ? 3 : BYTES, last ? nowhere : MPI_BYTE, &status));
    for (long i = 0; i < BYTES; ++i)
      EXPECT(back[i] == (last ? 0 : mine[i]), "byte %ld is %d", i, back[i]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  unsigned char in[16 * BLOCK] = {0};
  for (int call = 0; call < CALLS; ++call) {
    MPI_Alltoall(mine, 4, none, in, 4, nowhere, MPI_COMM_WORLD);
    MPI_Allgather(mine, 4, nowhere, in, 4, none, MPI_COMM_WORLD);
    for (int i = 0; i < 16 * BLOCK; ++i) EXPECT(in[i] == 0, "received byte %d", i);
  }
  MPI_Type_free(&none);
  MPI_Type_free(&nowhere);
  accesses(file, 2);
  EXPECT_OK(MPI_File_close(&file));
  look_at(path, 1);
}

/* The last bytes that a file may have. */
static void far_end(void) {
  MPI_File file = open_new();
  const MPI_Offset ends[] = {((MPI_Offset)1 << 62) + 5 * BYTES, INT64_MAX - 4096};
  for (int i = 0; i < 2; ++i) {
    const MPI_Offset at = ends[i] - (MPI_Offset)(ranks - rank) * SIZE;
    EXPECT_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    for (int k = 0; k < SIZE; ++k) mine[k] = value(rank, i, k);
    EXPECT_OK(MPI_File_write_at_all(file, at, mine, SIZE, MPI_BYTE, MPI_STATUS_IGNORE));
    sync_all(file);
    memset(back, 0, SIZE);
    EXPECT_OK(MPI_File_read_at_all(file, at, back, SIZE, MPI_BYTE, MPI_STATUS_IGNORE));
    EXPECT(memcmp(mine, back, SIZE) == 0, "wrong bytes at %lld", (long long)at);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_OK(MPI_File_close(&file));
  exchanges();
}

static void finalize(void) {
  int done = 0;
  MPI_Finalized(&done);
  if (!done) MPI_Finalize();
}

/* MPI_Finalize is behind exit(). */
static void at_exit(void) {
  plain();
  atexit(finalize);
}

/* Descriptors 0 to 2 are free: nobody may write a word into the file that gets them. */
static void closed(void) { plain(); }

/* A name that is no UTF-8, with a quote and the end of a line in it. */
static void odd_name(void) {
  snprintf(path, sizeof path, "%s/a\xff\xfe\"b\nc \\", folder);
  if (rank == 0) unlink(path);
  MPI_Barrier(MPI_COMM_WORLD);
  plain();
}

/* Neither /proc nor /sys is there any more. */
static void nothing_told(void) {
  EXPECT(unshare(CLONE_NEWNS) == 0, "needs root");
  EXPECT(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "cannot be alone");
  EXPECT(mount("none", "/proc", "tmpfs", 0, NULL) == 0, "/proc stays");
  EXPECT(mount("none", "/sys", "tmpfs", 0, NULL) == 0, "/sys stays");
  if (!problem[0]) plain();
}

int main(int argc, char** argv) {
  static const Check checks[] = {{"plain", plain},
                                 {"storm", storm},
                                 {"forks", forks},
                                 {"no more descriptors", no_more_descriptors},
                                 {"files end early", files_end_early},
                                 {"another file of the name", another_file_of_the_name},
                                 {"no name any more", no_name_any_more},
                                 {"elsewhere", elsewhere},
                                 {"without rights", without_rights},
                                 {"traps", traps},
                                 {"no environment", no_environment},
                                 {"processors", processors},
                                 {"nothing", nothing},
                                 {"far end", far_end},
                                 {"at exit", at_exit},
                                 {"closed", closed},
                                 {"odd name", odd_name},
                                 {"nothing told", nothing_told}};
  const int silent = argc > 2 && strcmp(argv[2], "closed") == 0;
  if (silent)
    for (int fd = 0; fd < 3; ++fd) close(fd);
  MPI_Init(&argc, &argv);
  const int failed = run_checks(argc, argv, checks, sizeof checks / sizeof *checks);
  if (silent && rank == 0) {
    char name[5000];
    snprintf(name, sizeof name, "%s/verdict", folder);
    FILE* verdict = fopen(name, "w");
    if (verdict) {
      fprintf(verdict, "%s closed: %s\n", failed ? "FAILED" : "ok", problem);
      fclose(verdict);
    }
  }
  if (argc > 2 && strcmp(argv[2], "at exit") == 0) exit(failed);
  MPI_Finalize();
  return failed;
}
