/* threads: collective accesses of several threads at once, each on a file and communicator of its
 * own.
 *
 *   mpiexec -n N threads ROUNDS DIRECTORY
 * See threads.h for what it prints. */
#include <string.h>

#include "threads.h"

enum { kPieces = 40, kSize = 48 };

static const char* directory;

/* The same bytes, one more everywhere, by the other kinds of collective access. Returns whether
 * they came back otherwise. */
static int nonblocking_and_split(MPI_File file, unsigned char* data) {
  enum { kBytes = kPieces * kSize };
  unsigned char back[kBytes];
  MPI_Request request;
  for (int i = 0; i < kBytes; ++i) data[i]++;
  MPI_File_iwrite_at_all(file, 0, data, kBytes, MPI_BYTE, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_read_at_all_begin(file, 0, back, kBytes, MPI_BYTE);
  MPI_File_read_at_all_end(file, back, MPI_STATUS_IGNORE);
  return memcmp(data, back, kBytes) != 0;
}

static int work(int number, MPI_Comm comm) {
  int wrong = 0;
  char path[4096];
  snprintf(path, sizeof path, "%s/thread%d.dat", directory, number);
  MPI_Datatype view;
  MPI_Type_vector(kPieces, kSize, kSize * ranks, MPI_BYTE, &view);
  MPI_Type_commit(&view);
  unsigned char data[kPieces * kSize], back[sizeof data];
  for (int round = 0; round < rounds; ++round) {
    MPI_File file;
    if (MPI_File_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file)) return 1;
    MPI_File_set_view(file, rank * kSize, MPI_BYTE, view, "native", MPI_INFO_NULL);
    memset(data, number * 64 + rank * 8 + round % 8, sizeof data);
    MPI_File_write_at_all(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 0, back, sizeof back, MPI_BYTE, MPI_STATUS_IGNORE);
    wrong |= memcmp(data, back, sizeof data) != 0;
    wrong |= nonblocking_and_split(file, data);
    MPI_File_close(&file);
  }
  MPI_Type_free(&view);
  return wrong;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  directory = argv[2];
  return run_threads(argc, argv, work);
}
