/* probe: one collective write and read of an interleaved file, saying what each rank was told.
 *
 *   mpiexec -n N probe FILE [pieces=64] [size=1000] [mode=write|read|both] [deep=0] [kill=-1]
 *                           [limit_mb=0] [gap=0] [abort=-1] [handler] [hint=KEY=VALUE]
 * Rank r owns piece i*N + r; `gap` bytes behind each piece are nobody's. Prints a line per rank and
 * call: CALL rank R open|write|read|close class NAME count C right|wrong|- and ends with 0 whatever
 * the classes are. `deep` nests the memory type that many times; rank `kill` ends itself by SIGKILL
 * between open and write, rank `abort` calls MPI_Abort there; `limit_mb` sets RLIMIT_AS on rank 0
 * to what it uses plus that many MiB once the file is open. `handler` gives the file an error
 * handler, which prints HANDLER rank R class NAME file open|closed. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static long option(int argc, char** argv, const char* name, long fallback) {
  const size_t n = strlen(name);
  for (int i = 2; i < argc; ++i)
    if (strncmp(argv[i], name, n) == 0 && argv[i][n] == '=') return atol(argv[i] + n + 1);
  return fallback;
}

static int has(int argc, char** argv, const char* word) {
  for (int i = 2; i < argc; ++i)
    if (strcmp(argv[i], word) == 0) return 1;
  return 0;
}

/* The hint of the command line, or MPI_INFO_NULL. */
static MPI_Info hint(int argc, char** argv) {
  MPI_Info info = MPI_INFO_NULL;
  for (int i = 2; i < argc; ++i) {
    if (strncmp(argv[i], "hint=", 5) != 0) continue;
    char* const value = strchr(argv[i] + 5, '=');
    if (!value) continue;
    *value = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, argv[i] + 5, value + 1);
  }
  return info;
}

static const char* class_name(int code) {
  static const struct {
    int value;
    const char* name;
  } known[] = {{MPI_SUCCESS, "SUCCESS"},
               {MPI_ERR_NO_SPACE, "NO_SPACE"},
               {MPI_ERR_IO, "IO"},
               {MPI_ERR_QUOTA, "QUOTA"},
               {MPI_ERR_ACCESS, "ACCESS"},
               {MPI_ERR_AMODE, "AMODE"},
               {MPI_ERR_ARG, "ARG"},
               {MPI_ERR_OTHER, "OTHER"},
               {MPI_ERR_FILE, "FILE"},
               {MPI_ERR_INTERN, "INTERN"},
               {MPI_ERR_READ_ONLY, "READ_ONLY"},
               {MPI_ERR_NO_SUCH_FILE, "NO_SUCH_FILE"},
               {MPI_ERR_BAD_FILE, "BAD_FILE"}};
  int class = MPI_ERR_UNKNOWN;
  if (code != MPI_SUCCESS)
    MPI_Error_class(code, &class);
  else
    class = MPI_SUCCESS;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (known[i].value == class) return known[i].name;
  return "UNKNOWN";
}

static int my_rank;

static void handle_error(MPI_File* file, int* code, ...) {
  int amode = 0;
  const int open = *file != MPI_FILE_NULL && MPI_File_get_amode(*file, &amode) == MPI_SUCCESS &&
                   (amode & MPI_MODE_RDWR);
  printf("HANDLER rank %d class %s file %s\n", my_rank, class_name(*code),
         open ? "open" : "closed");
  fflush(stdout);
}

static void limit_memory(long megabytes) {
  long pages = 0;
  FILE* statm = fopen("/proc/self/statm", "r");
  if (!statm || fscanf(statm, "%ld", &pages) != 1) abort();
  fclose(statm);
  const rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)megabytes << 20);
  const struct rlimit limit = {bytes, bytes};
  if (setrlimit(RLIMIT_AS, &limit)) abort();
}

static MPI_Datatype nested(long depth) {
  MPI_Datatype type = MPI_BYTE;
  for (long i = 0; i < depth; ++i) {
    MPI_Datatype next;
    const int one = 1;
    const MPI_Aint zero = 0;
    MPI_Type_create_struct(1, &one, &zero, &type, &next);
    if (type != MPI_BYTE) MPI_Type_free(&type);
    type = next;
  }
  if (depth > 0) MPI_Type_commit(&type);
  return type;
}

static unsigned char value(int rank, long i) { return (unsigned char)(rank * 31 + i * 7 + 1); }

static void say(int rank, const char* call, int code, MPI_Status* status, MPI_Datatype type,
                const char* verdict) {
  int count = -1;
  if (code == MPI_SUCCESS) MPI_Get_count(status, type, &count);
  printf("CALL rank %d %s class %s count %d %s\n", rank, call, class_name(code), count, verdict);
  fflush(stdout);
}

int main(int argc, char** argv) {
  int rank, ranks, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  my_rank = rank;
  const long pieces = option(argc, argv, "pieces", 64), size = option(argc, argv, "size", 1000);
  const long bytes = pieces * size;
  const int reading = has(argc, argv, "mode=read"), writing = has(argc, argv, "mode=write");
  MPI_File file;
  MPI_Info info = hint(argc, argv);
  const int amode = reading ? MPI_MODE_RDONLY : MPI_MODE_RDWR | MPI_MODE_CREATE;
  int code = MPI_File_open(MPI_COMM_WORLD, argv[1], amode, info, &file);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  if (code != MPI_SUCCESS) {
    printf("CALL rank %d open class %s count -1 -\n", rank, class_name(code));
    fflush(stdout);
    MPI_Finalize();
    return 0;
  }
  if (has(argc, argv, "handler")) {
    MPI_Errhandler handler;
    MPI_File_create_errhandler(handle_error, &handler);
    MPI_File_set_errhandler(file, handler);
    MPI_Errhandler_free(&handler);
  }
  MPI_Datatype view, deep = nested(option(argc, argv, "deep", 0));
  const long step = size + option(argc, argv, "gap", 0);
  MPI_Type_vector((int)pieces, (int)size, (int)(step * ranks), MPI_BYTE, &view);
  MPI_Type_commit(&view);
  MPI_File_set_view(file, rank * step, MPI_BYTE, view, "native", MPI_INFO_NULL);
  unsigned char* data = malloc((size_t)bytes);
  for (long i = 0; i < bytes; ++i) data[i] = value(rank, i);
  if (option(argc, argv, "kill", -1) == rank) kill(getpid(), SIGKILL);
  if (option(argc, argv, "abort", -1) == rank) MPI_Abort(MPI_COMM_WORLD, 7);
  if (rank == 0 && option(argc, argv, "limit_mb", 0))
    limit_memory(option(argc, argv, "limit_mb", 0));
  MPI_Status status;
  if (!reading) {
    code = MPI_File_write_all(file, data, (int)bytes, deep, &status);
    say(rank, "write", code, &status, deep, "-");
    MPI_File_seek(file, 0, MPI_SEEK_SET);
  }
  if (!writing) {
    memset(data, 0, (size_t)bytes);
    code = MPI_File_read_all(file, data, (int)bytes, deep, &status);
    int right = 1;
    for (long i = 0; i < bytes; ++i) right = right && data[i] == value(rank, i);
    say(rank, "read", code, &status, deep, right ? "right" : "wrong");
  }
  free(data);
  MPI_Type_free(&view);
  if (deep != MPI_BYTE) MPI_Type_free(&deep);
  code = MPI_File_close(&file);
  printf("CALL rank %d close class %s count -1 %s\n", rank, class_name(code),
         file == MPI_FILE_NULL ? "gone" : "kept");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
