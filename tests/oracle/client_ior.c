// IOR's pattern: SEGMENTS segments, in each a block of BLOCK bytes for every rank in turn, moved in
// transfers of TRANSFER bytes, all collectively. Usage:
//
//   client_ior offset|view SEGMENTS BLOCK TRANSFER FILE
//
// offset: MPI_File_write_at_all with an explicit offset for each transfer, as IOR -c does it.
// view:   a vector type as the view, MPI_File_write_all moving along it, as IOR -c -V does it.
// Each rank reads what the next one wrote (IOR -C). Prints a sum; exit code 1 if a value is wrong.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int view;  // else explicit offsets
  long segments, block, transfer;
  const char* path;
} ior_t;

static int g_rank, g_ranks;

static void fail(const char* what) {
  fprintf(stderr, "client_ior: %s on rank %d\n", what, g_rank);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char byte_of(int owner, long segment, long at) {
  return (unsigned char)(owner * 37 + segment * 11 + at * 3 + at / 256);
}

static void set_view(MPI_File file, const ior_t* ior, int owner) {
  MPI_Datatype strided;
  MPI_Type_vector((int)ior->segments, (int)ior->block, (int)(ior->block * g_ranks), MPI_BYTE,
                  &strided);
  MPI_Type_commit(&strided);
  if (MPI_File_set_view(file, owner * ior->block, MPI_BYTE, strided, "native", MPI_INFO_NULL))
    fail("MPI_File_set_view");
  MPI_Type_free(&strided);
}

// One transfer of the owner's block, at `at` of its block in `segment`.
static int move(MPI_File file, const ior_t* ior, int owner, long segment, long at,
                unsigned char* data, int writing) {
  MPI_Status status;
  const int count = (int)ior->transfer;
  const MPI_Offset offset = (segment * g_ranks + owner) * ior->block + at;
  int moved = 0;
  int code;
  if (ior->view)
    code = writing ? MPI_File_write_all(file, data, count, MPI_BYTE, &status)
                   : MPI_File_read_all(file, data, count, MPI_BYTE, &status);
  else
    code = writing ? MPI_File_write_at_all(file, offset, data, count, MPI_BYTE, &status)
                   : MPI_File_read_at_all(file, offset, data, count, MPI_BYTE, &status);
  if (code != MPI_SUCCESS) fail(writing ? "writing failed" : "reading failed");
  MPI_Get_count(&status, MPI_BYTE, &moved);
  return moved;
}

static long phase(const ior_t* ior, int writing) {
  const int owner = writing ? g_rank : (g_rank + 1) % g_ranks;
  const int mode = writing ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  unsigned char* data = malloc((size_t)ior->transfer);
  MPI_File file;
  long sum = 0;
  if (MPI_File_open(MPI_COMM_WORLD, ior->path, mode, MPI_INFO_NULL, &file)) fail("open");
  if (ior->view) set_view(file, ior, owner);
  for (long segment = 0; segment < ior->segments; ++segment) {
    for (long at = 0; at < ior->block; at += ior->transfer) {
      for (long i = 0; i < ior->transfer; ++i)
        data[i] = writing ? byte_of(owner, segment, at + i) : 0;
      if (move(file, ior, owner, segment, at, data, writing) != ior->transfer) fail("short count");
      for (long i = 0; i < ior->transfer; ++i) {
        if (data[i] != byte_of(owner, segment, at + i)) fail("wrong byte");
        sum += data[i];
      }
    }
  }
  MPI_File_close(&file);
  free(data);
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
  ior_t ior = {0};
  if (argc == 6)
    ior =
        (ior_t){strcmp(argv[1], "view") == 0, atol(argv[2]), atol(argv[3]), atol(argv[4]), argv[5]};
  if (ior.segments < 1 || ior.transfer < 1 || ior.block % ior.transfer) {
    if (g_rank == 0)
      fprintf(stderr, "usage: client_ior offset|view SEGMENTS BLOCK TRANSFER FILE\n");
    MPI_Finalize();
    return 2;
  }
  for (int writing = 1; writing >= 0; --writing) {
    const long own = phase(&ior, writing);
    long all = 0;
    MPI_Reduce(&own, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (g_rank == 0) printf("%s %ld\n", writing ? "write" : "read", all);
  }
  MPI_Finalize();
  return 0;
}
