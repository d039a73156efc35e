/* sparse: groups of small pieces that lie far apart, written and read by all ranks together.
 *
 *   mpiexec -n N sparse FILE regular|irregular GROUPS DISTANCE
 * In each group every rank has kPiece bytes, and behind them are kBetween bytes that are not to be
 * touched. Prints "right" if every byte is what it should be; exit code 1 if not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPiece = 16, kBetween = 8, kStep = kPiece + kBetween };

static int rank, ranks, groups, irregular;
static long long distance;

static long long begin_of(int group) {
  const unsigned long long drawn = (unsigned long long)group * 0x9E3779B97F4A7C15u >> 40;
  return group * distance + (irregular ? (long long)(drawn % 1000) * 100 : 0);
}

static unsigned char byte_of(int group, int at) {
  return at % kStep < kPiece ? (unsigned char)(1 + (group * 31 + at * 7) % 250) : 0xEE;
}

static void fail(const char* what, int group) {
  fprintf(stderr, "rank %d: %s of group %d\n", rank, what, group);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Rank 0 alone: what lies between the pieces, or all of a group. */
static void look(MPI_File file, int writing) {
  unsigned char* const all = malloc((size_t)ranks * kStep);
  for (int g = 0; g < groups && rank == 0; ++g) {
    if (writing) {
      memset(all, 0xEE, (size_t)ranks * kStep);
      MPI_File_write_at(file, begin_of(g), all, ranks * kStep, MPI_BYTE, MPI_STATUS_IGNORE);
      continue;
    }
    MPI_File_read_at(file, begin_of(g), all, ranks * kStep, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks * kStep; ++i)
      if (all[i] != byte_of(g, i)) fail("a wrong byte", g);
  }
  free(all);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
}

static void set_view(MPI_File file) {
  MPI_Aint* const at = malloc((size_t)groups * sizeof *at);
  MPI_Datatype type;
  for (int g = 0; g < groups; ++g) at[g] = (MPI_Aint)(begin_of(g) + rank * kStep);
  MPI_Type_create_hindexed_block(groups, kPiece, at, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  free(at);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5) return 2;
  irregular = strcmp(argv[2], "irregular") == 0;
  groups = atoi(argv[3]);
  distance = atoll(argv[4]);
  const int bytes = groups * kPiece;
  unsigned char *const own = malloc((size_t)bytes), *const back = calloc(1, (size_t)bytes);
  for (int g = 0; g < groups; ++g)
    for (int i = 0; i < kPiece; ++i) own[g * kPiece + i] = byte_of(g, rank * kStep + i);
  MPI_File file;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "2"); /* reads are exchanged, too */
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file))
    fail("the open", 0);
  look(file, 1);
  set_view(file);
  if (MPI_File_write_all(file, own, bytes, MPI_BYTE, MPI_STATUS_IGNORE)) fail("the write", 0);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  if (MPI_File_read_all(file, back, bytes, MPI_BYTE, MPI_STATUS_IGNORE)) fail("the read", 0);
  for (int i = 0; i < bytes; ++i)
    if (own[i] != back[i]) fail("another byte was read", i / kPiece);
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  look(file, 0);
  MPI_File_close(&file);
  MPI_Info_free(&info);
  free(own);
  free(back);
  if (rank == 0) puts("right");
  MPI_Finalize();
  return 0;
}
