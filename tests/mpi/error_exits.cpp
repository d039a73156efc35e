// Leaves MPI calls from within their error handlers, by an exception or by longjmp, and goes on.
//
//   error_exits throw|jump FILE [BAD]
//
// Then writes FILE collectively, which haichi takes if nothing of it is left behind from the calls
// that never returned. With BAD, which cannot be written, collective writes of that file are among
// these calls, in many pieces. Rank 0 prints "intact".
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

// Collective writes that fail on every rank.
static bool left_while_writing(const char* name, int rank, MPI_Errhandler handler) {
  constexpr int kPieces = 200, kSize = 100;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_File file;
  MPI_Datatype view;
  // MPICH 4.0.2 stands one file that has its handler from MPI_FILE_NULL, and stops at a second one.
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_set_errhandler(file, handler);
  MPI_Type_vector(kPieces, kSize, kSize * ranks, MPI_CHAR, &view);
  MPI_Type_commit(&view);
  MPI_File_set_view(file, rank * kSize, MPI_CHAR, view, "native", MPI_INFO_NULL);
  MPI_Type_free(&view);
  const std::vector<char> out(kPieces * kSize, 'x');
  bool all = true;
  for (int again = 0; again < 5; ++again) {
    const bool mine = left([&] {
      MPI_File_write_at_all(file, 0, out.data(), int(out.size()), MPI_CHAR, MPI_STATUS_IGNORE);
    });
    if (!mine) printf("rank %d: MPI_File_write_at_all came back\n", rank);
    all = all && mine;
  }
  MPI_File_close(&file);
  return all;
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
  if (argc > 3) mine = left_while_writing(argv[3], rank, file_handler) && mine;
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
