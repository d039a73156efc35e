// What the checks of consistency share: a job's file, the bytes in it, and what a check expects.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace oracle::consistency {

constexpr int kBlock = 100;  // bytes; no power of two, so that nothing is aligned by chance

struct Job {
  std::string path;
  int rank = 0, ranks = 1;
  std::string problem;  // the first one of this rank in the running check
};
inline Job g_job;

inline void expect(bool right, const std::string& what) {
  if (!right && g_job.problem.empty()) g_job.problem = what;
}

inline void expect_ok(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  expect(false, std::string(call) + ": " + text);
}

inline int class_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class;
}

// Byte `i` of the file in generation `generation`: never 0, and different in each generation.
inline uint8_t value(int64_t i, int generation) {
  return uint8_t((i * 7 + generation * 31) % 251 + 1);
}

inline std::vector<uint8_t> values(int64_t from, int64_t length, int generation) {
  std::vector<uint8_t> out(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) out[size_t(i)] = value(from + i, generation);
  return out;
}

inline MPI_File open_file(int amode, MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_File file = MPI_FILE_NULL;
  expect_ok(MPI_File_open(comm, g_job.path.c_str(), amode, MPI_INFO_NULL, &file), "MPI_File_open");
  return file;
}

inline void close_file(MPI_File& file) { expect_ok(MPI_File_close(&file), "MPI_File_close"); }

// What orders accesses of several ranks in nonatomic mode (MPI 4.1, 14.6.1).
inline void sync(MPI_File file) {
  expect_ok(MPI_File_sync(file), "MPI_File_sync");
  MPI_Barrier(MPI_COMM_WORLD);
  expect_ok(MPI_File_sync(file), "MPI_File_sync");
}

inline void write_block(MPI_File file, int64_t block, int generation) {
  const auto data = values(block * kBlock, kBlock, generation);
  expect_ok(
      MPI_File_write_at_all(file, block * kBlock, data.data(), kBlock, MPI_BYTE, MPI_STATUS_IGNORE),
      "MPI_File_write_at_all");
}

// Blocks of all ranks, each of which must be of `generation`, read by one rank on its own.
inline void expect_content(MPI_File file, int64_t blocks, int generation, const char* who) {
  std::vector<uint8_t> got(size_t(blocks * kBlock), 0);
  MPI_Status status;
  expect_ok(MPI_File_read_at(file, 0, got.data(), int(got.size()), MPI_BYTE, &status),
            "MPI_File_read_at");
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  expect(count == int(got.size()), std::string(who) + " reads " + std::to_string(count) + " of " +
                                       std::to_string(got.size()) + " bytes");
  expect(got == values(0, blocks * kBlock, generation), std::string(who) + " reads other bytes");
}

inline void expect_size(MPI_File file, int64_t right) {
  MPI_Offset size = -1;
  expect_ok(MPI_File_get_size(file, &size), "MPI_File_get_size");
  expect(size == right,
         "the size is " + std::to_string(size) + " and not " + std::to_string(right));
}

struct Check {
  const char* name;
  void (*run)();
};

/// Access modes, communicators, error handlers and hints (consistency_modes.cpp).
const std::vector<Check>& mode_checks();

}  // namespace oracle::consistency
