// What file systems call metadata, through MPI-IO: many small files by each rank at once, as mdtest
// has them, and one file that every rank opens by itself.
#include "measure/case/case.h"
#include "measure/suite/groups.h"
#include "measure/suite/scratch_file.h"

namespace haichi::measure {
namespace {

constexpr int kFiles = 16;  // of each rank

// Names of this rank's files.
struct Files {
  std::string stem;
  explicit Files(const Case& c) : stem(fmt::format("{}.{}", c.file, c.rank)) {}
  std::string name(int i) const { return fmt::format("{}.{}", stem, i); }
  void open_each(int mode) const {
    for (int i = 0; i < kFiles; ++i) {
      MPI_File file = MPI_FILE_NULL;
      must(MPI_File_open(MPI_COMM_SELF, name(i).c_str(), mode, MPI_INFO_NULL, &file));
      must(MPI_File_close(&file));
    }
  }
  void create() const { open_each(MPI_MODE_CREATE | MPI_MODE_RDWR); }
  void open() const { open_each(MPI_MODE_RDWR); }
  void remove() const {
    for (int i = 0; i < kFiles; ++i) must(MPI_File_delete(name(i).c_str(), MPI_INFO_NULL));
  }
};

Body creating(Case& c) {
  const Files files(c);
  return {.call = [=] { files.create(); }, .after = [=] { files.remove(); }};
}

Body opening(Case& c) {
  const Files files(c);
  c.alone("MPI_File_open", [&] { files.create(); });
  c.at_end([=] { files.remove(); });
  return {.call = [=] { files.open(); }};
}

Body deleting(Case& c) {
  const Files files(c);
  return {.call = [=] { files.remove(); }, .before = [=] { files.create(); }};
}

// The job's one file, opened by each rank without the others.
Body opening_one(Case& c) {
  scratch_file(c);
  return {.call = [&c] {
    MPI_File file = MPI_FILE_NULL;
    must(MPI_File_open(MPI_COMM_SELF, c.file.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    must(MPI_File_close(&file));
  }};
}

Measurement entry(std::string name, std::vector<std::string> functions, std::string timed,
                  std::function<Body(Case&)> make) {
  return {.name = std::move(name),
          .group = "metadata",
          .functions = std::move(functions),
          .section = "14.2",
          .timed = std::move(timed),
          .sample =
              "a file of 16 that each rank has, all ranks at once; on N ranks, N files in "
              "this time",
          .buffers = "empty files in one folder",
          .make = std::move(make),
          .parts = kFiles};
}

}  // namespace

std::vector<Measurement> metadata() {
  Measurement one =
      entry("file-open-each", {"MPI_File_open", "MPI_File_close"},
            "File_open of one file on MPI_COMM_SELF by each rank, File_close", opening_one);
  one.sample = "the calls on all ranks, begun behind a barrier";
  one.parts = 1;
  return {entry("files-create", {"MPI_File_open", "MPI_File_close"},
                "File_open that makes a file on MPI_COMM_SELF, File_close, of 16", creating),
          entry("files-open", {"MPI_File_open", "MPI_File_close"},
                "File_open of a file that is there on MPI_COMM_SELF, File_close, of 16", opening),
          entry("files-delete", {"MPI_File_delete"}, "File_delete of 16", deleting),
          std::move(one)};
}

}  // namespace haichi::measure
