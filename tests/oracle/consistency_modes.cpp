// Checks of consistency in the modes of a file: sequential, atomic, other data representations,
// file systems' own calls beside MPI's; and communicators, error handlers and hints.
#include <fcntl.h>
#include <unistd.h>

#include <map>

#include "oracle/consistency.h"

namespace oracle::consistency {
namespace {

void sequential_files_are_written_and_read_in_order() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  for (int round = 0; round < 3; ++round) {
    const auto data = values((round * g_job.ranks + g_job.rank) * kBlock, kBlock, 1);
    expect_ok(MPI_File_write_ordered(file, data.data(), kBlock, MPI_BYTE, MPI_STATUS_IGNORE),
              "MPI_File_write_ordered");
  }
  close_file(file);
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_file(MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
  for (int round = 0; round < 3; ++round) {
    std::vector<uint8_t> got(kBlock, 0);
    expect_ok(MPI_File_read_ordered(file, got.data(), kBlock, MPI_BYTE, MPI_STATUS_IGNORE),
              "MPI_File_read_ordered");
    expect(got == values((round * g_job.ranks + g_job.rank) * kBlock, kBlock, 1),
           "round " + std::to_string(round) + " has other bytes");
  }
  close_file(file);
}

void atomic_mode_needs_no_sync() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  expect_ok(MPI_File_set_atomicity(file, 1), "MPI_File_set_atomicity");
  int atomic = 0;
  expect_ok(MPI_File_get_atomicity(file, &atomic), "MPI_File_get_atomicity");
  expect(atomic == 1, "the file is not in atomic mode");
  write_block(file, g_job.rank, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_content(file, g_job.ranks, 1, "in atomic mode a rank");
  MPI_Barrier(MPI_COMM_WORLD);
  expect_ok(MPI_File_set_atomicity(file, 0), "MPI_File_set_atomicity");
  write_block(file, g_job.rank, 2);
  sync(file);
  expect_content(file, g_job.ranks, 2, "after atomic mode a rank");
  close_file(file);
}

// Where a library has it, ints are in the file with their most significant byte first.
void external32_is_converted_or_refused() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int mine = 0x01020300 + g_job.rank;
  const int code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
  if (code == MPI_SUCCESS) {
    expect_ok(MPI_File_write_at_all(file, g_job.rank, &mine, 1, MPI_INT, MPI_STATUS_IGNORE),
              "MPI_File_write_at_all");
    int back = 0;
    sync(file);
    expect_ok(MPI_File_read_at_all(file, g_job.rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE),
              "MPI_File_read_at_all");
    expect(back == mine, "another value comes back");
  }
  sync(file);
  expect_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
            "MPI_File_set_view");
  if (code == MPI_SUCCESS) {
    std::vector<uint8_t> got(4, 0);
    expect_ok(
        MPI_File_read_at_all(file, 4 * g_job.rank, got.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE),
        "MPI_File_read_at_all");
    expect(got == std::vector<uint8_t>{1, 2, 3, uint8_t(g_job.rank)}, "the file has other bytes");
  }
  write_block(file, g_job.rank, 3);
  sync(file);
  expect_content(file, g_job.ranks, 3, "in the native representation a rank");
  close_file(file);
}

int extent_of_file(MPI_Datatype type, MPI_Aint* extent, void*) {
  MPI_Aint lower_bound;
  return MPI_Type_get_extent(type, &lower_bound, extent);
}

// As are other representations, of the library's and of the program's own.
void other_representations_are_the_librarys() {
  static int registered = MPI_Register_datarep("oracle", nullptr, nullptr, extent_of_file, nullptr);
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (const char* name : {"internal", "oracle"}) {
    if (std::string(name) == "oracle" && registered != MPI_SUCCESS) continue;
    const int code = MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, name, MPI_INFO_NULL);
    int mine = code == MPI_SUCCESS, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) continue;
    write_block(file, g_job.rank, 4);
    sync(file);
    expect_content(file, g_job.ranks, 4, name);
    sync(file);
  }
  expect_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
            "MPI_File_set_view");
  write_block(file, g_job.rank, 5);
  sync(file);
  expect_content(file, g_job.ranks, 5, "in the native representation a rank");
  close_file(file);
}

void offsets_count_etypes() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype etype, filetype;
  MPI_Type_contiguous(kBlock, MPI_BYTE, &etype);
  MPI_Type_vector(1, 1, 1, etype, &filetype);
  MPI_Type_commit(&etype);
  MPI_Type_commit(&filetype);
  expect_ok(MPI_File_set_view(file, 2 * kBlock, etype, filetype, "native", MPI_INFO_NULL),
            "MPI_File_set_view");
  MPI_Type_free(&filetype);
  const int64_t mine = 2 + g_job.rank;
  const auto data = values(mine * kBlock, kBlock, 1);
  MPI_Status status;
  expect_ok(MPI_File_write_at_all(file, g_job.rank, data.data(), 1, etype, &status),
            "MPI_File_write_at_all");
  int count = -1;
  MPI_Get_count(&status, etype, &count);
  expect(count == 1, "the count is " + std::to_string(count));
  MPI_Offset at = -1;
  expect_ok(MPI_File_get_byte_offset(file, g_job.rank, &at), "MPI_File_get_byte_offset");
  expect(at == mine * kBlock, "the byte offset is " + std::to_string(at));
  sync(file);
  expect_ok(MPI_File_seek(file, g_job.rank, MPI_SEEK_SET), "MPI_File_seek");
  std::vector<uint8_t> got(kBlock, 0);
  expect_ok(MPI_File_read_all(file, got.data(), 1, etype, MPI_STATUS_IGNORE), "MPI_File_read_all");
  expect(got == data, "what was written is not what is read");
  MPI_Offset position = -1;
  expect_ok(MPI_File_get_position(file, &position), "MPI_File_get_position");
  expect(position == g_job.rank + 1, "the file pointer is " + std::to_string(position));
  MPI_Type_free(&etype);
  close_file(file);
}

// Of a constructor in a constructor, for which MPICH gets a view of haichi's making.
void a_block_of_a_view_may_have_more_than_2_gib() {
  constexpr int64_t kMiB = 1 << 20, kAll = 3000 * kMiB, kFar = 2500 * kMiB;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype part, whole;
  MPI_Type_contiguous(int(kMiB), MPI_BYTE, &part);
  MPI_Type_contiguous(int(kAll / kMiB), part, &whole);
  MPI_Type_commit(&whole);
  expect_ok(MPI_File_set_view(file, kBlock, MPI_BYTE, whole, "native", MPI_INFO_NULL),
            "MPI_File_set_view");
  MPI_Type_free(&part);
  MPI_Type_free(&whole);
  for (const int64_t base : {int64_t{0}, kFar, 2 * kAll}) {
    const int64_t mine = base + g_job.rank * kBlock;
    const auto data = values(mine, kBlock, 1);
    expect_ok(MPI_File_write_at_all(file, mine, data.data(), kBlock, MPI_BYTE, MPI_STATUS_IGNORE),
              "MPI_File_write_at_all");
    sync(file);
    std::vector<uint8_t> got(kBlock, 0);
    const int64_t next = base + (g_job.rank + 1) % g_job.ranks * kBlock;
    expect_ok(MPI_File_read_at_all(file, next, got.data(), kBlock, MPI_BYTE, MPI_STATUS_IGNORE),
              "MPI_File_read_at_all");
    expect(got == values(next, kBlock, 1), "other bytes are read at " + std::to_string(next));
  }
  expect_size(file, kBlock + 2 * kAll + g_job.ranks * kBlock);
  close_file(file);
}

int g_errors = 0, g_error_class = MPI_SUCCESS;

void on_error(MPI_File*, int* code, ...) {
  ++g_errors;
  g_error_class = class_of(*code);
}

void errors_go_to_the_files_handler() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Errhandler handler, got;
  MPI_File_create_errhandler(on_error, &handler);
  expect_ok(MPI_File_set_errhandler(file, handler), "MPI_File_set_errhandler");
  expect_ok(MPI_File_get_errhandler(file, &got), "MPI_File_get_errhandler");
  g_errors = 0;
  const uint8_t byte = 1;
  const int code = MPI_File_write_at_all(file, 0, &byte, -1, MPI_BYTE, MPI_STATUS_IGNORE);
  expect(class_of(code) == MPI_ERR_COUNT, "the error class is " + std::to_string(class_of(code)));
  expect(g_errors == 1 && g_error_class == MPI_ERR_COUNT,
         "the handler was called " + std::to_string(g_errors) + " times");
  MPI_Barrier(MPI_COMM_WORLD);
  write_block(file, g_job.rank, 1);
  expect(g_errors == 1, "the handler was called without an error");
  sync(file);
  expect_content(file, g_job.ranks, 1, "after an error a rank");
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  close_file(file);
}

std::map<std::string, std::string> hints_of(MPI_File file) {
  std::map<std::string, std::string> hints;
  MPI_Info info;
  int keys = 0;
  expect_ok(MPI_File_get_info(file, &info), "MPI_File_get_info");
  MPI_Info_get_nkeys(info, &keys);
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = "", text[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &found);
    hints[key] = text;
  }
  MPI_Info_free(&info);
  return hints;
}

void hints_can_be_handed_on() {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "1048576");
  MPI_Info_set(info, "no_such_hint", "whatever");
  MPI_File file = MPI_FILE_NULL;
  expect_ok(MPI_File_open(MPI_COMM_WORLD, g_job.path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, info,
                          &file),
            "MPI_File_open");
  MPI_Info_free(&info);
  const auto first = hints_of(file);
  // Open MPI 4.1.4 gives no keys at all.
  const auto buffer = first.find("cb_buffer_size");
  expect(buffer == first.end() || buffer->second == "1048576", "cb_buffer_size is another");
  expect_ok(MPI_File_get_info(file, &info), "MPI_File_get_info");
  close_file(file);
  expect_ok(MPI_File_open(MPI_COMM_WORLD, g_job.path.c_str(), MPI_MODE_RDWR, info, &file),
            "MPI_File_open with the hints of another file");
  MPI_Info_free(&info);
  expect(hints_of(file) == first, "the hints did not stay the same");
  write_block(file, g_job.rank, 1);
  sync(file);
  expect_content(file, g_job.ranks, 1, "a rank");
  close_file(file);
}

void duplicates_and_self_are_communicators_too() {
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR, twin);
  const std::string shared = g_job.path;
  g_job.path += "." + std::to_string(g_job.rank);
  MPI_File alone =
      open_file(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_COMM_SELF);
  g_job.path = shared;
  // In different order on different ranks: a file of a rank's own is nobody else's affair.
  if (g_job.rank % 2) write_block(alone, 0, 7);
  write_block(file, g_job.rank, 6);
  if (g_job.rank % 2 == 0) write_block(alone, 0, 7);
  expect_content(alone, 1, 7, "a rank alone");
  sync(file);
  expect_content(file, g_job.ranks, 6, "a rank");
  close_file(alone);
  close_file(file);
  MPI_Comm_free(&twin);
}

void other_openers_are_seen_and_see() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int other = open(g_job.path.c_str(), O_RDWR | O_CLOEXEC);
  expect(other >= 0, "the file cannot be opened by its path");
  const int64_t mine = g_job.rank * kBlock;
  std::vector<uint8_t> got(kBlock, 0);
  write_block(file, g_job.rank, 1);
  sync(file);
  expect(pread(other, got.data(), kBlock, mine) == kBlock && got == values(mine, kBlock, 1),
         "pread sees other bytes");
  auto data = values(mine, kBlock, 2);
  expect(pwrite(other, data.data(), kBlock, mine) == kBlock, "pwrite failed");
  sync(file);
  expect_content(file, g_job.ranks, 2, "after pwrite a rank");
  expect_ok(MPI_File_read_at_all(file, mine, got.data(), kBlock, MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_read_at_all");
  expect(got == data, "a collective read does not see what pwrite wrote");
  sync(file);
  if (g_job.rank == 0) expect(ftruncate(other, kBlock / 2) == 0, "ftruncate failed");
  sync(file);
  expect_size(file, kBlock / 2);
  close(other);
  close_file(file);
}

}  // namespace

const std::vector<Check>& mode_checks() {
  static const std::vector<Check> checks = {
      {"sequential files are written and read in order",
       sequential_files_are_written_and_read_in_order},
      {"atomic mode needs no sync", atomic_mode_needs_no_sync},
      {"external32 is converted or refused", external32_is_converted_or_refused},
      {"other representations are the library's", other_representations_are_the_librarys},
      {"offsets count etypes", offsets_count_etypes},
      {"a block of a view may have more than 2 GiB", a_block_of_a_view_may_have_more_than_2_gib},
      {"errors go to the file's handler", errors_go_to_the_files_handler},
      {"hints can be handed on", hints_can_be_handed_on},
      {"duplicates and self are communicators too", duplicates_and_self_are_communicators_too},
      {"other openers are seen and see", other_openers_are_seen_and_see},
  };
  return checks;
}

}  // namespace oracle::consistency
