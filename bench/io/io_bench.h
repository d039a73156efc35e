// The frame of the collective I/O measurements: options, data, timing and the line of results.
//
// A program describes its pattern (views, memory and the runs of bytes that connect them) and hands
// it to bench_run, which writes and reads the file with MPI_File_write_all and MPI_File_read_all
// (or, to have something to compare with, without MPI-IO: io_access.h), checks every
// byte and prints one JSON line. The programs know nothing of haichi.
//
// Errors: bad options end the program with one line on standard error and exit code 2; an MPI call
// that fails or a wrong byte, with exit code 1 on all ranks.
#pragma once

#include <mpi.h>
#include <stdint.h>

// A run of bytes that is contiguous in memory and in the file.
typedef struct {
  int64_t memory;  // offset from the start of the buffer
  int64_t file;    // offset from the start of the file
  int64_t size;    // bytes
} bench_run_t;

// How the bytes get into the file; see io_access.h.
typedef struct bench_access bench_access_t;

// What one rank writes and reads. Offsets and sizes are bytes.
typedef struct {
  const char* program;
  const char* shape;  // JSON object with the parameters, for the line of results
  MPI_Offset displacement;
  MPI_Datatype filetype;  // of the view; its etype is MPI_BYTE
  MPI_Datatype memtype;   // one of it is the rank's data
  int64_t memory_bytes;   // length of the buffer
  int64_t file_bytes;     // length of the whole file once all ranks have written
  int64_t runs;           // how many runs run_at() has
  // The k-th run, 0 <= k < runs; all runs together are the rank's data.
  bench_run_t (*run_at)(const void* context, int64_t k);
  const void* context;
  const bench_access_t* by_hand;  // what somebody wrote in place of MPI-IO, or NULL
} bench_pattern_t;

// Ways to access the file, in the order of the words of --access.
enum { kCollectively, kContiguously, kByHand };

// What every measurement can be told on its command line.
typedef struct {
  const char* file;
  int write, read, verify;
  int access;               // kCollectively, ...
  const char* access_word;  // as it was given
  int repetitions;
  double seconds;  // of writes, or of reads, after which no further one begins
  MPI_Info hints;
  MPI_Comm node;  // the ranks of this rank's node
} bench_options_t;

// One option of a program's own; `value` points to an int64_t or, if `choices` is given ("a|b"), to
// an int that gets the index of the choice. `help` is one clause, with the unit.
typedef struct {
  const char* name;
  void* value;
  const char* choices;
  const char* help;
} bench_flag_t;

// Parses argv; `flags` ends with a row whose name is NULL. Collective over MPI_COMM_WORLD.
void bench_parse(int argc, char** argv, const bench_flag_t* flags, bench_options_t* options);
void bench_free(bench_options_t* options);

// Ends the program on all ranks with exit code 2; rank 0 prints the line. Call it on all ranks.
void bench_refuse(const char* format, ...) __attribute__((format(printf, 1, 2), noreturn));

// Ends the job with exit code 1 if `code` is an MPI error.
void bench_check(int code, const char* call);

// Runs the measurement and returns the exit code of the program: 0, or 1 after a wrong byte.
int bench_run(const bench_options_t* options, const bench_pattern_t* pattern);

// The same as the last thing that a program does: frees the pattern's types and the options too,
// and ends MPI.
int bench_conclude(bench_options_t* options, bench_pattern_t* pattern);

// The byte that belongs at offset x of the file: never 0, so that a hole is not taken for data.
static inline unsigned char bench_byte(int64_t x) {
  const uint32_t hash = ((uint32_t)x * 2654435761u) >> 24;
  return (unsigned char)(hash == 255 ? 1 : hash + 1);
}
