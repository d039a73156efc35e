/* late_write: a nonblocking write that is under way while a collective write works around its
 * bytes.
 *
 *   mpiexec -n N late_write FOLDER
 * Exit code 1 if a check failed; see check.h. */
#include "check.h"

enum { kPieces = 20, kPiece = 10 };

/* Rank r of N has piece i * (N + 1) + r; the last of each N + 1 is nobody's in collective writes.
 */
static void set_view(MPI_File file) {
  MPI_Datatype pieces;
  MPI_Type_vector(kPieces, kPiece, kPiece * (ranks + 1), MPI_BYTE, &pieces);
  MPI_Type_commit(&pieces);
  EXPECT_OK(MPI_File_set_view(file, rank * kPiece, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
  MPI_Type_free(&pieces);
}

static void write_pieces(MPI_File file, int value) {
  unsigned char data[kPieces * kPiece];
  memset(data, value, sizeof data);
  EXPECT_OK(MPI_File_write_at_all(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
}

/* What nobody's piece `i` has in the file, if it is the same everywhere, else -1. */
static int between(int i) {
  unsigned char got[kPiece];
  FILE* file = fopen(path, "rb");
  if (!file) return -1;
  fseek(file, ((long)i * (ranks + 1) + ranks) * kPiece, SEEK_SET);
  const size_t n = fread(got, 1, sizeof got, file);
  fclose(file);
  for (size_t k = 1; k < n; ++k)
    if (got[k] != got[0]) return -1;
  return n == sizeof got ? got[0] : -1;
}

static MPI_File open_with_rmw(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_Info_set(info, "haichi_holes", "rmw");
  MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR, info);
  MPI_Info_free(&info);
  set_view(file);
  return file;
}

typedef int (*Write)(MPI_File, const void*, MPI_Request*);

static int at_offset(MPI_File file, const void* data, MPI_Request* request) {
  return MPI_File_iwrite_at(file, (3 * (ranks + 1) + ranks) * kPiece, data, kPiece, MPI_BYTE,
                            request);
}

static int at_pointer(MPI_File file, const void* data, MPI_Request* request) {
  MPI_File_seek(file, (3 * (ranks + 1) + ranks) * kPiece, MPI_SEEK_SET);
  return MPI_File_iwrite(file, data, kPiece, MPI_BYTE, request);
}

/* The handle has two views: bytes for the write under way, pieces for the collective one. So the
 * collective write goes by offsets of a view that shows the same to both: bytes, each rank a piece.
 */
static void around(Write write) {
  MPI_File file = open_with_rmw();
  write_pieces(file, 1);
  sync_all(file);
  EXPECT_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  unsigned char late[kPiece], mine[kPiece];
  memset(late, 77, sizeof late);
  memset(mine, 2, sizeof mine);
  MPI_Request request = MPI_REQUEST_NULL;
  /* Rank 0 is the aggregator: its read-modify-write is the one that the late write falls into. */
  if (rank == 0) EXPECT_OK(write(file, late, &request));
  /* The first and the last of the ranks' pieces lie on both sides of it. */
  const MPI_Offset at = rank == 0 ? 2 * (ranks + 1) * kPiece : (4 * (ranks + 1) + rank) * kPiece;
  EXPECT_OK(MPI_File_write_at_all(file, at, mine, kPiece, MPI_BYTE, MPI_STATUS_IGNORE));
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  sync_all(file);
  EXPECT(between(3) == 77, "the bytes of the nonblocking write are %d", between(3));
  MPI_Barrier(MPI_COMM_WORLD);
  /* With nothing under way, holes are read and written back again. */
  EXPECT_OK(MPI_File_write_at_all(file, at, mine, kPiece, MPI_BYTE, MPI_STATUS_IGNORE));
  sync_all(file);
  EXPECT(between(3) == 77, "the bytes of the nonblocking write became %d", between(3));
  MPI_File_close(&file);
}

static void around_a_write_at_an_offset(void) { around(at_offset); }
static void around_a_write_at_the_pointer(void) { around(at_pointer); }

static const Check checks[] = {
    {"around a write at an offset", around_a_write_at_an_offset},
    {"around a write at the pointer", around_a_write_at_the_pointer},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failed = run_checks(argc, argv, checks, (int)(sizeof checks / sizeof *checks));
  MPI_Finalize();
  return failed;
}
