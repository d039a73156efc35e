/* Files of argument_fuzz. */
#pragma once

#include <string.h>

static void fuzz_open(void) {
  const int kind = draw(5);
  const int amodes[] = {MPI_MODE_RDWR, MPI_MODE_RDWR | MPI_MODE_RDONLY, MPI_MODE_RDONLY, 0,
                        MPI_MODE_RDWR | MPI_MODE_CREATE};
  char path[4200];
  MPI_File file = MPI_FILE_NULL;
  snprintf(path, sizeof path, "%s/%s", folder, kind == 0 ? "absent" : "file");
  const int code =
      MPI_File_open(kind == 4 ? MPI_COMM_NULL : comms[0], path, amodes[kind], MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) MPI_File_close(&file);
  fprintf(log_file, "%d: ", kind);
  told("MPI_File_open", "wrong", code, &kind, sizeof kind);
}

static int wrong_access(MPI_File file, int kind, int reading, int* data, MPI_Status* status) {
  switch (kind) {
    case 0:
      return reading ? MPI_File_read_all(file, data, 4, MPI_DATATYPE_NULL, status)
                     : MPI_File_write_all(file, data, 4, MPI_DATATYPE_NULL, status);
    case 1:
      return reading ? MPI_File_read_at_all(file, 0, data, -4, MPI_INT, status)
                     : MPI_File_write_at_all(file, 0, data, -4, MPI_INT, status);
    case 2:
      return reading ? MPI_File_read_at_all(file, -8, data, 4, MPI_INT, status)
                     : MPI_File_write_at_all(file, -8, data, 4, MPI_INT, status);
    case 3:
      return reading ? MPI_File_read_all(file, NULL, 0, MPI_INT, status)
                     : MPI_File_write_all(file, NULL, 0, MPI_INT, status);
    case 4:
      return MPI_File_set_view(file, -4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    case 5:
      return MPI_File_set_view(file, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL);
    case 6:
      return MPI_File_set_view(file, 0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL);
    case 7:
      return MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such thing", MPI_INFO_NULL);
    case 8:
      return MPI_File_seek(file, -100, MPI_SEEK_SET);
    case 9:
      return MPI_File_set_size(file, -100);
    case 10:
      return reading ? MPI_File_read_at_all_end(file, data, status)
                     : MPI_File_write_at_all_end(file, data, status);
    case 11:
      return reading ? MPI_File_read_at_all(file, rank * 16, data, 4, loose, status)
                     : MPI_File_write_at_all(file, rank * 16, data, 4, loose, status);
    default:
      return reading ? MPI_File_read_at_all(file, rank * 16, data, 4, MPI_INT, status)
                     : MPI_File_write_at_all(file, rank * 16, data, 4, MPI_INT, status);
  }
}

static void fuzz_file(void) {
  if (draw(4) == 0) {
    fuzz_open();
    return;
  }
  char path[4200];
  int data[4] = {rank, 1, 2, 3};
  MPI_File file = MPI_FILE_NULL;
  int kind = draw(14);
  const int reading = draw(2);
#ifdef OPEN_MPI
  if (kind == 2 || kind == 10) kind = 13; /* one waits, the other crashes */
#endif
  snprintf(path, sizeof path, "%s/file", folder);
  MPI_File_open(comms[0], path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  for (int i = 0; i < 2; ++i) {
    MPI_Status status;
    MPI_File_write_at_all(file, rank * 16, data, 4, MPI_INT, &status);
    const int code = wrong_access(file, kind, reading, data, &status);
    fprintf(log_file, "%d%s: ", kind, reading ? ", reading" : "");
    told("file", "access", code, data, sizeof data);
  }
  MPI_File_close(&file);
}
