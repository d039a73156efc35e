/* What the run report must tell apart: a strided write and read of all ranks, a write of the odd
 * ranks' own communicator, a file that is opened twice, and a call that haichi passes through.
 * Usage: report_calls DIRECTORY */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 1024
#define BLOCKS 64

static void transfer(MPI_Comm comm, const char* path, int atomic, int read) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  static char data[BLOCK * BLOCKS];
  memset(data, 'a' + rank, sizeof data);
  MPI_Datatype block, filetype;
  MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, (MPI_Aint)BLOCK * size, &filetype);
  MPI_Type_commit(&filetype);
  MPI_File file;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "65536");
  MPI_Info_set(info, "romio_ds_write", "enable");
  if (MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) != MPI_SUCCESS)
    MPI_Abort(comm, 3);
  MPI_File_set_view(file, (MPI_Offset)BLOCK * rank, MPI_BYTE, filetype, "native", info);
  if (atomic) MPI_File_set_atomicity(file, 1);
  MPI_File_write_all(file, data, (int)sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
  if (read) MPI_File_read_at_all(file, 0, data, (int)sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Info_free(&info);
  MPI_Type_free(&filetype);
  MPI_Type_free(&block);
}

int main(int argc, char** argv) {
  char path[4096];
  int rank;
  MPI_Comm odd;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s/all.dat", argv[1]);
  transfer(MPI_COMM_WORLD, path, 0, 1);
  transfer(MPI_COMM_WORLD, path, 0, 0);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 0 : MPI_UNDEFINED, rank, &odd);
  if (odd != MPI_COMM_NULL) {
    snprintf(path, sizeof path, "%s/odd.dat", argv[1]);
    transfer(odd, path, 0, 0);
    MPI_Comm_free(&odd);
  }
  snprintf(path, sizeof path, "%s/atomic.dat", argv[1]);
  transfer(MPI_COMM_WORLD, path, 1, 0);
  MPI_Finalize();
  return 0;
}
