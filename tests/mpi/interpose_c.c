/* A plain MPI program that knows nothing of haichi: writes blocks of all ranks in turn through a
 * file view, collectively, reads them back and checks every value.
 * Usage: interpose_c FILE [large]   "large" uses the functions with a count of MPI_Count
 * Prints "intact" on rank 0; exit code 1 and a line if a byte or a count is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, BLOCKS = 10, N = BLOCK * BLOCKS };

static int bad(const char* what) {
  fprintf(stderr, "interpose_c: wrong %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

static void write_and_read(MPI_File file, const int* out, int* in, int large, MPI_Status* wrote,
                           MPI_Status* got) {
#ifdef HAVE_LARGE_COUNTS
  if (large) {
    MPI_File_write_all_c(file, out, N, MPI_INT, wrote);
    MPI_File_read_at_all_c(file, 0, in, N, MPI_INT, got);
    return;
  }
#endif
  (void)large;
  MPI_File_write_all(file, out, N, MPI_INT, wrote);
  MPI_File_read_at_all(file, 0, in, N, MPI_INT, got);
}

int main(int argc, char** argv) {
  int rank, size, count, out[N], in[N];
  MPI_Status wrote, got;
  MPI_Datatype blocks, etype, filetype;
  MPI_File file;
  MPI_Info info;
  MPI_Offset disp;
  char datarep[MPI_MAX_DATAREP_STRING];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < N; ++i) out[i] = rank * 1000 + i;
  memset(in, 0, sizeof in);

  MPI_Type_vector(BLOCKS, BLOCK, BLOCK * size, MPI_INT, &blocks);
  MPI_Type_commit(&blocks);
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS) {
    return bad("file");
  }
  MPI_File_set_view(file, (MPI_Offset)(rank * BLOCK * sizeof(int)), MPI_INT, blocks, "native",
                    MPI_INFO_NULL);
  MPI_File_get_view(file, &disp, &etype, &filetype, datarep);
  if (disp != (MPI_Offset)(rank * BLOCK * sizeof(int)) || strcmp(datarep, "native") != 0) {
    return bad("view");
  }
  write_and_read(file, out, in, argc > 2 && strcmp(argv[2], "large") == 0, &wrote, &got);
  MPI_Get_count(&wrote, MPI_INT, &count);
  if (count != N) return bad("count written");
  MPI_Get_count(&got, MPI_INT, &count);
  if (count != N) return bad("count read");
  if (memcmp(in, out, sizeof in) != 0) return bad("values");
  MPI_File_get_info(file, &info);
  MPI_Info_free(&info);
  MPI_File_close(&file);
  MPI_Type_free(&blocks);

  /* Without a view: the file is the blocks of all ranks in turn. */
  int* all = malloc((size_t)N * size * sizeof(int));
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_File_read_all(file, all, N * size, MPI_INT, &got);
  for (int i = 0; i < N * size; ++i) {
    int block = i / BLOCK, owner = block % size, row = block / size;
    if (all[i] != owner * 1000 + row * BLOCK + i % BLOCK) return bad("file");
  }
  MPI_File_close(&file);
  free(all);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("intact");
  return MPI_Finalize();
}
