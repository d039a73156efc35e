/* memory: how much a rank's memory grows in one collective write and one read.
 *
 *   mpiexec -n N memory FOLDER SHAPE MIB CB_NODES CB_BYTES
 *
 * SHAPE: contiguous, regular, irregular (the file's view and the user's memory alike). Every rank
 * has MIB MiB; the ranks' pieces take turns in the file. Rank 0 prints one line for each rank: rank
 * R write W read R blocks B W and R: bytes by which the resident memory was larger at its peak than
 * before the call, that of the node in common included. Exit code 1 after a wrong byte. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kMiB = 1 << 20, kLeastPiece = 200, kMostPiece = 3000, kWarmUp = 8 * kMiB };

static int rank, ranks;

static long status_kib(const char* key) {
  char line[256];
  long value = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (strncmp(line, key, strlen(key)) == 0) value = atol(line + strlen(key));
  if (status) fclose(status);
  return value;
}

/* The peak is that from now on. */
static long start_peak(void) {
  FILE* clear = fopen("/proc/self/clear_refs", "w");
  if (!clear || fputs("5", clear) < 0 || fclose(clear) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  return status_kib("VmRSS:");
}

static char* pages(size_t bytes) {
  char* memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 3);
  return memory;
}

/* What the MPI library allocates for messages of its own accord, it shall have before. */
static void warm_up(void) {
  const size_t each = kWarmUp / (size_t)ranks;
  char *from = pages(kWarmUp), *to = pages(kWarmUp);
  MPI_Request* requests = malloc(2 * (size_t)ranks * sizeof *requests);
  for (int again = 0; again < 3; ++again) {
    for (int r = 0; r < ranks; ++r)
      MPI_Irecv(to + (size_t)r * each, (int)each, MPI_BYTE, r, 0, MPI_COMM_WORLD, &requests[r]);
    for (int r = 0; r < ranks; ++r)
      MPI_Isend(from + (size_t)r * each, (int)each, MPI_BYTE, r, 0, MPI_COMM_WORLD,
                &requests[ranks + r]);
    MPI_Waitall(2 * ranks, requests, MPI_STATUSES_IGNORE);
  }
  free(requests);
  munmap(from, kWarmUp);
  munmap(to, kWarmUp);
}

/* Sizes of pieces, the same on all ranks, so that taking turns fills the file. */
static int piece_size(const char* shape, unsigned* state) {
  if (strcmp(shape, "irregular") != 0) return 1024;
  *state = *state * 1103515245u + 12345u;
  return kLeastPiece + (int)(*state >> 8) % (kMostPiece - kLeastPiece);
}

typedef struct {
  MPI_Datatype view, memory;
  long bytes, span; /* of the data, and of the memory that holds it */
  int blocks;
} Types;

static Types types_of(const char* shape, long wanted) {
  Types t = {0};
  unsigned state = 1;
  const int most = (int)(wanted / kLeastPiece) + 1;
  int* sizes = malloc((size_t)most * sizeof *sizes);
  MPI_Aint* in_file = malloc((size_t)most * sizeof *in_file);
  MPI_Aint* in_memory = malloc((size_t)most * sizeof *in_memory);
  MPI_Aint file = 0;
  for (; t.bytes < wanted; ++t.blocks) {
    const int size = piece_size(shape, &state);
    sizes[t.blocks] = size;
    in_file[t.blocks] = file + (MPI_Aint)rank * size;
    in_memory[t.blocks] = t.span;
    file += (MPI_Aint)ranks * size;
    t.span += size + 16;
    t.bytes += size;
  }
  if (strcmp(shape, "contiguous") == 0) {
    t.span = t.bytes;
    MPI_Type_contiguous((int)t.bytes, MPI_BYTE, &t.memory);
    MPI_Type_vector(t.blocks, 1024, 1024 * ranks, MPI_BYTE, &t.view);
  } else if (strcmp(shape, "regular") == 0) {
    MPI_Type_vector(t.blocks, 1024, 1024 + 16, MPI_BYTE, &t.memory);
    MPI_Type_vector(t.blocks, 1024, 1024 * ranks, MPI_BYTE, &t.view);
  } else {
    MPI_Type_create_hindexed(t.blocks, sizes, in_memory, MPI_BYTE, &t.memory);
    MPI_Type_create_hindexed(t.blocks, sizes, in_file, MPI_BYTE, &t.view);
  }
  MPI_Type_commit(&t.memory);
  MPI_Type_commit(&t.view);
  free(sizes);
  free(in_file);
  free(in_memory);
  return t;
}

static void fill(char* data, long bytes) {
  for (long i = 0; i < bytes; ++i) data[i] = (char)(i * 7 + rank + i / 4096);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 6) MPI_Abort(MPI_COMM_WORLD, 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/memory.dat", argv[1]);
  Types t = types_of(argv[2], atol(argv[3]) * kMiB);
  const int displaced = rank * 1024 * (strcmp(argv[2], "irregular") != 0);
  char *data = pages((size_t)t.span), *back = pages((size_t)t.span);
  fill(data, t.span);
  memcpy(back, data, (size_t)t.span);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", argv[4]);
  MPI_Info_set(info, "cb_buffer_size", argv[5]);
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Info_set(info, "romio_cb_read", "enable");
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                info, &file);
  MPI_File_set_view(file, displaced, MPI_BYTE, t.view, "native", MPI_INFO_NULL);
  warm_up();
  MPI_Barrier(MPI_COMM_WORLD);
  long figures[3], before = start_peak();
  MPI_File_write_at_all(file, 0, data, 1, t.memory, MPI_STATUS_IGNORE);
  figures[0] = (status_kib("VmHWM:") - before) * 1024;
  for (long i = 0; i < t.span; ++i) back[i] = (char)~back[i];
  MPI_Barrier(MPI_COMM_WORLD);
  /* What the write keeps for the read is the read's memory as well: counted from before both. */
  start_peak();
  MPI_File_read_at_all(file, 0, back, 1, t.memory, MPI_STATUS_IGNORE);
  figures[1] = (status_kib("VmHWM:") - before) * 1024;
  figures[2] = t.blocks;
  int wrong = 0;
  char* packed[2];
  for (int i = 0; i < 2; ++i) {
    int at = 0;
    packed[i] = malloc((size_t)t.bytes);
    MPI_Pack(i ? back : data, 1, t.memory, packed[i], (int)t.bytes, &at, MPI_COMM_WORLD);
  }
  wrong = memcmp(packed[0], packed[1], (size_t)t.bytes) != 0;
  long* all = malloc((size_t)ranks * sizeof figures);
  MPI_Gather(figures, 3, MPI_LONG, all, 3, MPI_LONG, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < ranks; ++r)
    printf("rank %d write %ld read %ld blocks %ld\n", r, all[3 * r], all[3 * r + 1],
           all[3 * r + 2]);
  if (wrong) fprintf(stderr, "rank %d read other bytes than it wrote\n", rank);
  MPI_File_close(&file);
  MPI_Finalize();
  return wrong;
}
