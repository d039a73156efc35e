/* tuned_io: collective writes and reads of an interleaved file that is opened anew for each of
 * them.
 *
 *   mpiexec -n N tuned_io FILE CALLS [dup] [halves] [uneven] [KEY=VALUE]
 * Each of the CALLS rounds opens, writes and reads, with other bytes each time. On MPI_COMM_WORLD;
 * `dup`: on a duplicate of it that is freed before the file is closed; `halves`: every other round
 * on the even and on the odd ranks, each with a file of its own; `uneven`: the first half of the
 * ranks has everything. KEY=VALUE is a hint of every open.
 * Ends with 1 after a wrong byte; prints "CALLS rounds right" else. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 32, SIZE = 4096, BYTES = PIECES * SIZE };

static unsigned char byte_of(int rank, int round, int at) {
  return (unsigned char)(rank * 37 + round * 101 + at * 7 + at / SIZE + 3);
}

static int one_round(MPI_Comm comm, int dup, int uneven, const char* path, int round,
                     MPI_Info hints) {
  static unsigned char out[BYTES], in[BYTES];
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (uneven) ranks = (ranks + 1) / 2;
  const int own_bytes = rank < ranks ? BYTES : 0;
  for (int i = 0; i < BYTES; ++i) out[i] = byte_of(rank, round, i);
  memset(in, 0, sizeof in);
  MPI_Comm own = comm;
  if (dup) MPI_Comm_dup(comm, &own);
  MPI_File file;
  wrong += MPI_File_open(own, path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file) != MPI_SUCCESS;
  if (dup) MPI_Comm_free(&own);
  MPI_Datatype view;
  MPI_Type_vector(PIECES, SIZE, SIZE * ranks, MPI_BYTE, &view);
  MPI_Type_commit(&view);
  MPI_File_set_view(file, (MPI_Offset)rank * SIZE, MPI_BYTE, view, "native", MPI_INFO_NULL);
  wrong +=
      MPI_File_write_at_all(file, 0, out, own_bytes, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  wrong += MPI_File_read_at_all(file, 0, in, own_bytes, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  wrong += memcmp(in, out, (size_t)own_bytes) != 0;
  MPI_File_close(&file);
  MPI_Type_free(&view);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0, wrong_anywhere, dup = 0, halves = 0, uneven = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int rounds = atoi(argv[2]);
  MPI_Info hints;
  MPI_Info_create(&hints);
  for (int i = 3; i < argc; ++i) {
    char* const value = strchr(argv[i], '=');
    dup |= strcmp(argv[i], "dup") == 0;
    halves |= strcmp(argv[i], "halves") == 0;
    uneven |= strcmp(argv[i], "uneven") == 0;
    if (!value) continue;
    *value = 0;
    MPI_Info_set(hints, argv[i], value + 1);
  }
  const int half = rank % 2;
  MPI_Comm of_half;
  MPI_Comm_split(MPI_COMM_WORLD, half, rank, &of_half);
  char path_of_half[4096];
  snprintf(path_of_half, sizeof path_of_half, "%s.%d", argv[1], half);
  for (int round = 0; round < rounds; ++round) {
    const int split = halves && round % 2;
    wrong += one_round(split ? of_half : MPI_COMM_WORLD, dup, uneven,
                       split ? path_of_half : argv[1], round, hints);
  }
  MPI_Comm_free(&of_half);
  MPI_Info_free(&hints);
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && wrong_anywhere == 0) printf("%d rounds right\n", rounds);
  MPI_Finalize();
  return wrong_anywhere != 0;
}
