/* by_nodes: collective accesses by communicators of several kinds, of pieces with and without a
 * rule, read back by others and across the end of the file.
 *
 *   mpiexec -n N by_nodes FOLDER
 * Prints "right" once for each rank, or what is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPieces = 300, kPiece = 24 };

static int wrong = 0;

static unsigned char value(long at) { return (unsigned char)(at * 7 + at / 253 + 1); }

/* Pieces of all ranks in turn; with `shuffled` each rank's place within a turn has no rule, and its
 * description fits into no announcement. */
static MPI_Datatype view_of(int rank, int ranks, int shuffled) {
  int lengths[kPieces], at[kPieces];
  MPI_Datatype pieces, view;
  for (int i = 0; i < kPieces; ++i) {
    const int turn = shuffled ? (int)((unsigned)(i * 2654435761u) >> 16) % ranks : 0;
    lengths[i] = kPiece;
    at[i] = (i * ranks + (rank + turn) % ranks) * kPiece;
  }
  MPI_Type_indexed(kPieces, lengths, at, MPI_BYTE, &pieces);
  MPI_Type_create_resized(pieces, 0, (MPI_Aint)kPieces * ranks * kPiece, &view);
  MPI_Type_free(&pieces);
  MPI_Type_commit(&view);
  return view;
}

static long offset_of(int rank, int ranks, int shuffled, int piece) {
  const int turn = shuffled ? (int)((unsigned)(piece * 2654435761u) >> 16) % ranks : 0;
  return ((long)piece * ranks + (rank + turn) % ranks) * kPiece;
}

/* Writes as one rank and reads as another one, and twice as much as there is. */
static void check(MPI_Comm comm, const char* folder, const char* name, int shuffled) {
  static unsigned char bytes[2 * kPieces * kPiece];
  char path[4200];
  int rank, ranks, got;
  MPI_File file;
  MPI_Status status;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  snprintf(path, sizeof path, "%s/%s-%d", folder, name, shuffled);
  MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_Datatype view = view_of(rank, ranks, shuffled);
  MPI_File_set_view(file, 0, MPI_BYTE, view, "native", MPI_INFO_NULL);
  for (int i = 0; i < kPieces * kPiece; ++i)
    bytes[i] = value(offset_of(rank, ranks, shuffled, i / kPiece) + i % kPiece);
  MPI_File_write_at_all(file, 0, bytes, kPieces * kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_Type_free(&view);
  MPI_File_sync(file);
  const int as = (rank + 1) % ranks;
  view = view_of(as, ranks, !shuffled);
  MPI_File_set_view(file, 0, MPI_BYTE, view, "native", MPI_INFO_NULL);
  memset(bytes, 0, sizeof bytes);
  MPI_File_read_at_all(file, 0, bytes, 2 * kPieces * kPiece, MPI_BYTE, &status);
  MPI_Get_count(&status, MPI_BYTE, &got);
  if (got != kPieces * kPiece) printf("%s: %d bytes read\n", name, got), ++wrong;
  for (int i = 0; i < kPieces * kPiece; ++i)
    if (bytes[i] != value(offset_of(as, ranks, !shuffled, i / kPiece) + i % kPiece)) {
      printf("%s: byte %d of rank %d is wrong\n", name, i, rank);
      ++wrong;
      break;
    }
  MPI_Type_free(&view);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Comm dup, again, reversed, half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_dup(reversed, &again);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  for (int shuffled = 0; shuffled < 2; ++shuffled) {
    check(MPI_COMM_WORLD, argv[argc - 1], "world", shuffled);
    check(dup, argv[argc - 1], "dup", shuffled);
    check(reversed, argv[argc - 1], "reversed", shuffled);
    check(again, argv[argc - 1], "again", shuffled);
    check(half, argv[argc - 1], rank % 2 ? "odd" : "even", shuffled);
  }
  MPI_Comm_free(&half);
  MPI_Comm_free(&again);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&dup);
  if (!wrong) puts("right");
  if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return 0;
}
