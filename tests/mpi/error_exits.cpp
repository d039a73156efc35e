// Leaves MPI calls from within their error handlers, by an exception or by longjmp, and goes on.
//
//   error_exits throw|jump FILE
//
// Then writes FILE collectively, which haichi takes if nothing of it is left behind from the calls
// that never returned. Rank 0 prints "intact".
#include <mpi.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

static bool jumps;
static jmp_buf back;

static void leave() {
  if (jumps) longjmp(back, 1);
  throw std::string("from the handler");
}

static void on_comm(MPI_Comm*, int*, ...) { leave(); }
static void on_file(MPI_File*, int*, ...) { leave(); }

template <class Call>
static bool left(Call call) {
  if (jumps) {
    if (setjmp(back) != 0) return true;
    call();
    return false;
  }
  try {
    call();
  } catch (const std::string& thrown) {
    return thrown == "from the handler";
  }
  return false;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  jumps = strcmp(argv[1], "jump") == 0;
  MPI_Errhandler comm_handler, file_handler;
  MPI_Comm_create_errhandler(on_comm, &comm_handler);
  MPI_File_create_errhandler(on_file, &file_handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, comm_handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, comm_handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, file_handler);
  int rank, all = 0, mine;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File file;
  mine = left([] {
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_NULL, &made);
  });
  if (!mine) printf("rank %d: MPI_Comm_dup came back\n", rank);
  const bool opened = !left([&] {
    MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  });
  if (opened) printf("rank %d: MPI_File_open came back\n", rank);
  mine = mine && !opened;
  MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  std::vector<char> out(64, char('a' + rank)), in(64);
  MPI_File_write_at_all(file, rank * 64, out.data(), 64, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, rank * 64, in.data(), 64, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  mine = mine && in == out;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0 && all) puts("intact");
  MPI_Finalize();
  return !all;
}
