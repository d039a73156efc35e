// oracle_consistency: what else a program does to a file between collective accesses, and what it
// must see: independent accesses of other ranks, file sizes, access modes, other handles.
//
// A plain MPI program for any number of ranks; every check holds for the stock libraries as it
// does for haichi. Prints one line a check; exit code 1 if any failed, 2 for bad usage.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "oracle/consistency.h"

namespace {

using namespace oracle::consistency;

void independent_read_after_collective_write() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int generation = 0; generation < 3; ++generation) {
    write_block(file, (g_job.rank + generation) % g_job.ranks, generation);
    sync(file);
    expect_content(file, g_job.ranks, generation, "a rank on its own");
    sync(file);
  }
  close_file(file);
}

void collective_read_after_independent_write() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int generation = 0; generation < 3; ++generation) {
    const auto data = values(g_job.rank * kBlock, kBlock, generation);
    expect_ok(MPI_File_write_at(file, g_job.rank * kBlock, data.data(), kBlock, MPI_BYTE,
                                MPI_STATUS_IGNORE),
              "MPI_File_write_at");
    sync(file);
    const int64_t other = (g_job.rank + 1 + generation) % g_job.ranks;
    std::vector<uint8_t> got(kBlock, 0);
    expect_ok(
        MPI_File_read_at_all(file, other * kBlock, got.data(), kBlock, MPI_BYTE, MPI_STATUS_IGNORE),
        "MPI_File_read_at_all");
    expect(got == values(other * kBlock, kBlock, generation), "another rank's bytes are not seen");
    sync(file);
  }
  close_file(file);
}

void second_handle_sees_what_the_first_wrote() {
  MPI_File one = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File two = open_file(MPI_MODE_RDONLY);
  write_block(one, g_job.rank, 5);
  sync(one);
  expect_content(two, g_job.ranks, 5, "another handle");
  std::vector<uint8_t> got(kBlock, 0);
  const int64_t other = g_job.ranks - 1 - g_job.rank;
  expect_ok(
      MPI_File_read_at_all(two, other * kBlock, got.data(), kBlock, MPI_BYTE, MPI_STATUS_IGNORE),
      "MPI_File_read_at_all");
  expect(got == values(other * kBlock, kBlock, 5), "a collective read by another handle differs");
  close_file(two);
  close_file(one);
}

void sizes_follow_collective_writes() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int64_t all = int64_t(g_job.ranks) * kBlock;
  expect_size(file, 0);
  sync(file);
  write_block(file, g_job.rank, 1);
  sync(file);
  expect_size(file, all);
  sync(file);
  expect_ok(MPI_File_set_size(file, kBlock / 2), "MPI_File_set_size");
  sync(file);
  expect_size(file, kBlock / 2);
  sync(file);
  // Far behind the new end, so that what was there before must not come back.
  write_block(file, g_job.ranks + g_job.rank, 2);
  sync(file);
  expect_size(file, 2 * all);
  std::vector<uint8_t> got(kBlock, 0xee);
  expect_ok(MPI_File_read_at_all(file, 0, got.data(), kBlock, MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_read_at_all");
  const auto head = values(0, kBlock / 2, 1);
  expect(std::equal(head.begin(), head.end(), got.begin()), "bytes before the new end are lost");
  sync(file);
  expect_ok(MPI_File_preallocate(file, 5 * all), "MPI_File_preallocate");
  sync(file);
  expect_size(file, 5 * all);
  sync(file);
  write_block(file, g_job.rank, 3);
  sync(file);
  expect_content(file, g_job.ranks, 3, "after MPI_File_preallocate a rank");
  close_file(file);
}

void truncated_bytes_do_not_come_back() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  write_block(file, g_job.rank, 1);
  sync(file);
  expect_ok(MPI_File_set_size(file, 0), "MPI_File_set_size");
  sync(file);
  std::vector<uint8_t> got(kBlock, 0xee);
  MPI_Status status;
  expect_ok(MPI_File_read_at(file, 0, got.data(), kBlock, MPI_BYTE, &status), "MPI_File_read_at");
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  expect(count == 0, "an emptied file still gives " + std::to_string(count) + " bytes");
  close_file(file);
}

void delete_on_close() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  write_block(file, g_job.rank, 1);
  sync(file);
  expect_content(file, g_job.ranks, 1, "a rank");
  close_file(file);
  MPI_Barrier(MPI_COMM_WORLD);
  expect(access(g_job.path.c_str(), F_OK) != 0, "the file is still there");
}

void append_mode_begins_at_the_end() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
  write_block(file, g_job.rank, 1);
  close_file(file);
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_file(MPI_MODE_RDWR | MPI_MODE_APPEND);
  const int64_t end = int64_t(g_job.ranks) * kBlock;
  MPI_Offset position = -1;
  expect_ok(MPI_File_get_position(file, &position), "MPI_File_get_position");
  expect(position == end, "the file pointer is " + std::to_string(position));
  // Every rank's pointer is at the end: one of them writes there, the others nothing.
  const auto tail = values(0, kBlock, 9);
  expect_ok(MPI_File_write_all(file, tail.data(), g_job.rank == 0 ? kBlock : 0, MPI_BYTE,
                               MPI_STATUS_IGNORE),
            "MPI_File_write_all");
  sync(file);
  expect_size(file, end + kBlock);
  expect_content(file, g_job.ranks, 1, "after appending a rank");
  sync(file);
  // It is only where the pointers begin.
  expect_ok(MPI_File_seek(file, g_job.rank * kBlock, MPI_SEEK_SET), "MPI_File_seek");
  const auto data = values(g_job.rank * kBlock, kBlock, 2);
  expect_ok(MPI_File_write_all(file, data.data(), kBlock, MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_write_all");
  sync(file);
  expect_size(file, end + kBlock);
  expect_content(file, g_job.ranks, 2, "after a seek to the start a rank");
  close_file(file);
}

void exclusive_create_keeps_what_is_there() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
  write_block(file, g_job.rank, 4);
  close_file(file);
  MPI_Barrier(MPI_COMM_WORLD);
  const int code =
      MPI_File_open(MPI_COMM_WORLD, g_job.path.c_str(),
                    MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  expect(code != MPI_SUCCESS, "a second exclusive create succeeds");
  expect(class_of(code) == MPI_ERR_FILE_EXISTS,
         "its error class is " + std::to_string(class_of(code)));
  file = open_file(MPI_MODE_RDONLY);
  expect_content(file, g_job.ranks, 4, "after it a rank");
  close_file(file);
}

void missing_file() {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(MPI_COMM_WORLD, (g_job.path + ".no").c_str(), MPI_MODE_RDONLY,
                                 MPI_INFO_NULL, &file);
  expect(class_of(code) == MPI_ERR_NO_SUCH_FILE,
         "the error class is " + std::to_string(class_of(code)));
}

void writes_to_a_read_only_handle_change_nothing() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
  write_block(file, g_job.rank, 1);
  close_file(file);
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_file(MPI_MODE_RDONLY);
  const auto data = values(0, kBlock, 8);
  // Open MPI 4.1.4 returns success.
  MPI_File_write_at_all(file, g_job.rank * kBlock, data.data(), kBlock, MPI_BYTE,
                        MPI_STATUS_IGNORE);
  expect_content(file, g_job.ranks, 1, "a rank");
  close_file(file);
}

void nothing_to_do_on_any_rank() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Status status;
  expect_ok(MPI_File_write_all(file, nullptr, 0, MPI_BYTE, &status), "MPI_File_write_all");
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  expect(count == 0, "the count is " + std::to_string(count));
  expect_ok(MPI_File_read_at_all(file, 1000, nullptr, 0, MPI_DOUBLE, &status),
            "MPI_File_read_at_all");
  expect_size(file, 0);
  close_file(file);
}

void communicator_freed_after_open() {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -g_job.rank, &comm);  // in reverse order
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR, comm);
  MPI_Comm_free(&comm);
  write_block(file, g_job.rank, 6);
  sync(file);
  expect_content(file, g_job.ranks, 6, "a rank");
  close_file(file);
}

void two_halves_of_the_ranks_work_side_by_side() {
  const std::string whole = g_job.path;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, g_job.rank % 2, g_job.rank, &half);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &ranks);
  g_job.path += g_job.rank % 2 ? ".odd" : ".even";
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, half);
  for (int generation = 0; generation < 4; ++generation) {
    write_block(file, rank, generation);
    expect_ok(MPI_File_sync(file), "MPI_File_sync");
    MPI_Barrier(half);
    expect_ok(MPI_File_sync(file), "MPI_File_sync");
    expect_content(file, ranks, generation, "a rank of a half");
    MPI_Barrier(half);
  }
  close_file(file);
  MPI_Comm_free(&half);
  g_job.path = whole;
}

void view_is_given_back_as_it_was_set() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype vector;
  MPI_Type_vector(3, 2, 2 * g_job.ranks, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  const MPI_Offset displacement = 40 + 8 * g_job.rank;
  expect_ok(MPI_File_set_view(file, displacement, MPI_INT, vector, "native", MPI_INFO_NULL),
            "MPI_File_set_view");
  MPI_Type_free(&vector);
  std::vector<int> data(6, g_job.rank + 1);
  expect_ok(MPI_File_write_all(file, data.data(), 6, MPI_INT, MPI_STATUS_IGNORE),
            "MPI_File_write_all");
  MPI_Offset got = -1;
  MPI_Datatype etype, filetype;
  char datarep[MPI_MAX_DATAREP_STRING] = "";
  expect_ok(MPI_File_get_view(file, &got, &etype, &filetype, datarep), "MPI_File_get_view");
  int size = -1;
  MPI_Type_size(filetype, &size);
  expect(got == displacement, "the displacement is " + std::to_string(got));
  expect(size == 24, "the filetype has " + std::to_string(size) + " bytes");
  expect(std::strcmp(datarep, "native") == 0, "the data representation is another");
  MPI_Offset at = -1;
  expect_ok(MPI_File_get_byte_offset(file, 2, &at), "MPI_File_get_byte_offset");
  expect(at == displacement + 8 * g_job.ranks, "etype 2 is at byte " + std::to_string(at));
  MPI_Type_free(&filetype);
  sync(file);
  expect_ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
            "MPI_File_set_view");
  expect_size(file, 40 + 3 * 8 * g_job.ranks);
  int seen = 0;
  expect_ok(MPI_File_read_at_all(file, 40 + 8 * ((g_job.rank + 1) % g_job.ranks), &seen, 4,
                                 MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_read_at_all");
  expect(seen == (g_job.rank + 1) % g_job.ranks + 1,
         "bytes behind the next view are " + std::to_string(seen));
  close_file(file);
}

void more_than_a_collective_buffer() {
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  // 20 MiB in all, dealt out in pieces, through buffers of the default size.
  const int pieces = 64, piece = (20 << 20) / pieces / g_job.ranks;
  MPI_Datatype vector, tile;
  MPI_Type_vector(pieces, piece, piece * g_job.ranks, MPI_BYTE, &vector);
  MPI_Type_create_resized(vector, 0, MPI_Aint(pieces) * piece * g_job.ranks, &tile);
  MPI_Type_commit(&tile);
  expect_ok(MPI_File_set_view(file, MPI_Offset(g_job.rank) * piece, MPI_BYTE, tile, "native",
                              MPI_INFO_NULL),
            "MPI_File_set_view");
  const auto data = values(g_job.rank, int64_t(pieces) * piece, g_job.rank);
  expect_ok(MPI_File_write_all(file, data.data(), int(data.size()), MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_write_all");
  sync(file);
  expect_size(file, int64_t(pieces) * piece * g_job.ranks);
  std::vector<uint8_t> got(data.size(), 0);
  expect_ok(MPI_File_read_at_all(file, 0, got.data(), int(got.size()), MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_read_at_all");
  expect(got == data, "what was written is not what is read");
  MPI_Type_free(&vector);
  MPI_Type_free(&tile);
  close_file(file);
}

const Check kChecks[] = {
    {"independent read after collective write", independent_read_after_collective_write},
    {"collective read after independent write", collective_read_after_independent_write},
    {"a second handle sees what the first wrote", second_handle_sees_what_the_first_wrote},
    {"sizes follow collective writes", sizes_follow_collective_writes},
    {"truncated bytes do not come back", truncated_bytes_do_not_come_back},
    {"delete on close", delete_on_close},
    {"append mode begins at the end", append_mode_begins_at_the_end},
    {"exclusive create keeps what is there", exclusive_create_keeps_what_is_there},
    {"missing file", missing_file},
    {"nothing to do on any rank", nothing_to_do_on_any_rank},
    {"communicator freed after open", communicator_freed_after_open},
    {"two halves of the ranks work side by side", two_halves_of_the_ranks_work_side_by_side},
    {"view is given back as it was set", view_is_given_back_as_it_was_set},
    {"more than a collective buffer", more_than_a_collective_buffer},
    // Last: Open MPI 4.1.4 leaves messages of the failed call behind, which the next file meets.
    {"writes to a read-only handle change nothing", writes_to_a_read_only_handle_change_nothing},
};

// Whether every rank found the check good; prints its line on rank 0 and each rank's problem.
bool run_check(const Check& check) {
  if (g_job.rank == 0) unlink(g_job.path.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
  g_job.problem.clear();
  check.run();
  int good = g_job.problem.empty(), all = 0;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!good)
    std::fprintf(stderr, "consistency: FAILED %s: rank %d: %s\n", check.name, g_job.rank,
                 g_job.problem.c_str());
  if (g_job.rank == 0) {
    std::printf("consistency: %s %s\n", all ? "ok" : "FAILED", check.name);
    unlink(g_job.path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: oracle_consistency DIRECTORY [WORDS OF A CHECK'S NAME]\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_job.ranks);
  g_job.path = std::string(argv[1]) + "/consistency.dat";
  int failed = 0;
  std::vector<Check> checks = mode_checks();
  checks.insert(checks.end(), std::begin(kChecks), std::end(kChecks));
  for (const Check& check : checks)
    if (argc == 2 || std::strstr(check.name, argv[2])) failed += !run_check(check);
  MPI_Finalize();
  return failed ? 1 : 0;
}
