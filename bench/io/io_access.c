#include "io_access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Collective

static void collective_open(bench_file_t* file, const bench_options_t* options,
                            const bench_pattern_t* pattern, int writing) {
  const int mode = writing ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
  bench_check(MPI_File_open(MPI_COMM_WORLD, options->file, mode, options->hints, &file->handle),
              "MPI_File_open");
  bench_check(MPI_File_set_view(file->handle, pattern->displacement, MPI_BYTE, pattern->filetype,
                                "native", options->hints),
              "MPI_File_set_view");
}

static int64_t collective_transfer(bench_file_t* file, const bench_pattern_t* pattern, int writing,
                                   unsigned char* memory) {
  MPI_Status status;
  MPI_Count moved = 0;
  if (writing)
    bench_check(MPI_File_write_all(file->handle, memory, 1, pattern->memtype, &status),
                "MPI_File_write_all");
  else
    bench_check(MPI_File_read_all(file->handle, memory, 1, pattern->memtype, &status),
                "MPI_File_read_all");
  MPI_Get_elements_x(&status, MPI_BYTE, &moved);
  return moved;
}

static void collective_close(bench_file_t* file) {
  bench_check(MPI_File_close(&file->handle), "MPI_File_close");
}

const bench_access_t bench_collective = {collective_open, collective_transfer, collective_close};

// Contiguous

static void check_posix(int64_t result, const char* call) {
  if (result >= 0) return;
  fprintf(stderr, "%s: %s\n", call, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void bench_open_posix(bench_file_t* file, const bench_options_t* options,
                      const bench_pattern_t* pattern, int writing) {
  (void)pattern;
  file->descriptor = open(options->file, writing ? O_CREAT | O_RDWR : O_RDONLY, 0666);
  check_posix(file->descriptor, options->file);
}

int64_t bench_transfer_posix(const bench_file_t* file, int writing, unsigned char* memory,
                             int64_t bytes, int64_t at) {
  int64_t moved = 0;
  while (moved < bytes) {
    const size_t left = (size_t)(bytes - moved);
    const ssize_t step = writing ? pwrite(file->descriptor, memory + moved, left, at + moved)
                                 : pread(file->descriptor, memory + moved, left, at + moved);
    check_posix(step, writing ? "pwrite" : "pread");
    if (step == 0) break;
    moved += step;
  }
  return moved;
}

void bench_close_posix(bench_file_t* file) { check_posix(close(file->descriptor), "close"); }

static int64_t contiguous_transfer(bench_file_t* file, const bench_pattern_t* pattern, int writing,
                                   unsigned char* memory) {
  return bench_transfer_posix(file, writing, memory, pattern->memory_bytes, pattern->displacement);
}

const bench_access_t bench_contiguous = {bench_open_posix, contiguous_transfer, bench_close_posix};

static bench_run_t the_run(const void* context, int64_t k) {
  (void)k;
  return *(const bench_run_t*)context;
}

bench_pattern_t bench_packed(const bench_pattern_t* pattern, int64_t bytes, bench_run_t* run) {
  int64_t end = 0, all = 0;
  MPI_Scan(&bytes, &end, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&bytes, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  *run = (bench_run_t){.memory = 0, .file = end - bytes, .size = bytes};
  return (bench_pattern_t){
      .program = pattern->program,
      .shape = pattern->shape,
      .displacement = run->file,
      .memory_bytes = bytes,
      .file_bytes = all,
      .runs = 1,
      .run_at = the_run,
      .context = run,
  };
}
