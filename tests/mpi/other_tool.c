/* Another tool that is preloaded over an MPI, for the tests of stacking: counts the files opened
 * and the collective writes, and says so in MPI_Finalize. By default it does as haichi does
 * (exports MPI_X and PMPI_X, finds the next one by dlsym); with -DTEXTBOOK it follows the profiling
 * interface to the letter (exports MPI_X alone, calls PMPI_X). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int opens, writes;
static __thread int depth;

#ifdef TEXTBOOK
#define NEXT(name) P##name
#define ALSO_PMPI(name, parameters)
#else
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, "P" #name))
#define ALSO_PMPI(name, parameters) int P##name parameters __attribute__((alias(#name)));
#endif

int MPI_File_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, MPI_File* file) {
  if (depth++ == 0) ++opens;
  int code = NEXT(MPI_File_open)(comm, path, mode, info, file);
  --depth;
  return code;
}
ALSO_PMPI(MPI_File_open, (MPI_Comm, const char*, int, MPI_Info, MPI_File*))

int MPI_File_write_all(MPI_File file, const void* data, int n, MPI_Datatype type, MPI_Status* got) {
  if (depth++ == 0) ++writes;
  int code = NEXT(MPI_File_write_all)(file, data, n, type, got);
  --depth;
  return code;
}
ALSO_PMPI(MPI_File_write_all, (MPI_File, const void*, int, MPI_Datatype, MPI_Status*))

int MPI_Finalize(void) {
  if (depth++ == 0) fprintf(stderr, "other tool: %d opened, %d written\n", opens, writes);
  int code = NEXT(MPI_Finalize)();
  --depth;
  return code;
}
ALSO_PMPI(MPI_Finalize, (void))
