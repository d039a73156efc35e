/* Legal and illegal arguments of the functions that haichi hooks, drawn from a seed.
 *
 *   mpiexec -n N argument_fuzz FOLDER SEED CASES
 * Under MPI_ERRORS_RETURN. Each rank writes FOLDER/log.R: a line for each case with the function,
 * what is wrong with it, the class of the error and a sum over the receive buffer. All ranks draw
 * the same; only what every library checks on each rank by itself is wrong on one rank alone, which
 * then makes a right call for the one that the others wait in. What a library takes without a look,
 * and may crash on, is left out for it. */
#include "argument_fuzz.h"

#include <string.h>

int rank, ranks;
FILE* log_file;
const char* folder;
static unsigned long long state;

int draw(int below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((state >> 33) % (unsigned)below);
}

void told(const char* function, const char* what, int code, const void* bytes, size_t size) {
  int class = MPI_SUCCESS;
  unsigned long long sum = 14695981039346656037ULL;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  for (size_t i = 0; i < size; ++i)
    sum = (sum ^ ((const unsigned char*)bytes)[i]) * 1099511628211ULL;
  fprintf(log_file, "%s, %s: class %d, bytes %llx\n", function, what, class, sum);
  fflush(log_file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  char path[4096];
  folder = argv[1];
  state = strtoull(argv[2], NULL, 10);
  snprintf(path, sizeof path, "%s/log.%d", folder, rank);
  log_file = fopen(path, "w");
  begin_exchanges();
  for (int i = 0; i < atoi(argv[3]); ++i) {
    const int kind = draw(10);
    fprintf(log_file, "%d ", i);
    if (kind < 7)
      fuzz_exchange();
    else if (kind < 8)
      fuzz_communicator();
    else
      fuzz_file();
  }
  end_exchanges();
  fclose(log_file);
  MPI_Finalize();
  return 0;
}
