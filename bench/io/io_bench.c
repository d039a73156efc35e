#include "io_bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../library_name.h"
#include "../timing.h"
#include "io_access.h"

enum { kMemoryGap = 0xA5 };  // what lies between the regions of a buffer, and must stay there

static int world_rank(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void bench_refuse(const char* format, ...) {
  if (world_rank() == 0) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
  }
  MPI_Finalize();
  exit(2);
}

void bench_check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "rank %d: %s: %s\n", world_rank(), call, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Usage

static void print_usage(const char* program, const bench_flag_t* flags) {
  if (world_rank() == 0) {
    printf("usage: mpiexec -n N %s --file PATH [options]\n", program);
    for (const bench_flag_t* flag = flags; flag->name; ++flag)
      printf("  --%-16s %s%s%s\n", flag->name, flag->choices ? flag->choices : "",
             flag->choices ? ": " : "", flag->help);
    printf(
        "  --op               write|read|both (both); read expects the file of a write\n"
        "  --access           collective|contiguous|by-hand (collective); contiguous is the "
        "limit:\n"
        "                     the same bytes of each rank by one pwrite or pread, rank after "
        "rank;\n"
        "                     by-hand what a user wrote in place of MPI-IO, if the pattern has it\n"
        "  --repetitions      how often in this process (1)\n"
        "  --seconds          no more writes, or reads, once these have taken so long (no limit)\n"
        "  --hint KEY=VALUE   an MPI_Info hint for the file; repeatable\n"
        "  --no-verify        do not check what was read\n");
  }
  MPI_Finalize();
  exit(0);
}

static int choice_index(const char* choices, const char* word) {
  const size_t length = strlen(word);
  int index = 0;
  for (const char* at = choices; at; ++index) {
    const char* bar = strchr(at, '|');
    const size_t size = bar ? (size_t)(bar - at) : strlen(at);
    if (size == length && strncmp(at, word, size) == 0) return index;
    at = bar ? bar + 1 : NULL;
  }
  return -1;
}

static int64_t parse_count(const char* name, const char* text) {
  char* end = NULL;
  const long long value = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || value < 0)
    bench_refuse("--%s %s: use a whole number, 0 or more", name, text);
  return value;
}

static void parse_hint(MPI_Info hints, const char* text) {
  const char* equals = strchr(text, '=');
  char key[MPI_MAX_INFO_KEY];
  if (!equals || equals == text || (size_t)(equals - text) >= sizeof key)
    bench_refuse("--hint %s: use KEY=VALUE", text);
  memcpy(key, text, (size_t)(equals - text));
  key[equals - text] = '\0';
  bench_check(MPI_Info_set(hints, key, equals + 1), "MPI_Info_set");
}

// Index of the word among the choices of --NAME.
static int parse_choice(const char* name, const char* choices, const char* word) {
  const int index = choice_index(choices, word);
  if (index < 0) bench_refuse("--%s %s: use one of %s", name, word, choices);
  return index;
}

static void parse_own(const bench_flag_t* flags, const char* name, const char* value) {
  const bench_flag_t* flag = flags;
  while (flag->name && strcmp(flag->name, name) != 0) ++flag;
  if (!flag->name) bench_refuse("unknown option --%s; --help lists all", name);
  if (!flag->choices) {
    *(int64_t*)flag->value = parse_count(name, value);
    return;
  }
  *(int*)flag->value = parse_choice(name, flag->choices, value);
}

void bench_parse(int argc, char** argv, const bench_flag_t* flags, bench_options_t* options) {
  *options = (bench_options_t){.write = 1,
                               .read = 1,
                               .verify = 1,
                               .access_word = "collective",
                               .repetitions = 1,
                               .seconds = INFINITY};
  bench_check(MPI_Info_create(&options->hints), "MPI_Info_create");
  bench_check(
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &options->node),
      "MPI_Comm_split_type");
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0) print_usage(argv[0], flags);
    if (strcmp(argv[i], "--no-verify") == 0) {
      options->verify = 0;
      continue;
    }
    if (strncmp(argv[i], "--", 2) != 0)
      bench_refuse("unexpected argument %s; --help lists the options", argv[i]);
    const char *name = argv[i] + 2, *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (!value) bench_refuse("--%s needs a value", name);
    ++i;
    if (strcmp(name, "file") == 0) {
      options->file = value;
    } else if (strcmp(name, "repetitions") == 0) {
      options->repetitions = (int)parse_count(name, value);
    } else if (strcmp(name, "seconds") == 0) {
      options->seconds = (double)parse_count(name, value);
    } else if (strcmp(name, "hint") == 0) {
      parse_hint(options->hints, value);
    } else if (strcmp(name, "op") == 0) {
      const int index = parse_choice(name, "write|read|both", value);
      options->write = index != 1;
      options->read = index != 0;
    } else if (strcmp(name, "access") == 0) {
      options->access = parse_choice(name, "collective|contiguous|by-hand", value);
      options->access_word = value;
    } else {
      parse_own(flags, name, value);
    }
  }
  if (!options->file) bench_refuse("--file is missing: name the file to write and read");
}

int bench_conclude(bench_options_t* options, bench_pattern_t* pattern) {
  const int code = bench_run(options, pattern);
  MPI_Type_free(&pattern->filetype);
  MPI_Type_free(&pattern->memtype);
  bench_free(options);
  MPI_Finalize();
  return code;
}

void bench_free(bench_options_t* options) {
  MPI_Info_free(&options->hints);
  MPI_Comm_free(&options->node);
}

// Data

static void fill(const bench_pattern_t* pattern, unsigned char* memory) {
  memset(memory, kMemoryGap, (size_t)pattern->memory_bytes);
  for (int64_t k = 0; k < pattern->runs; ++k) {
    const bench_run_t run = pattern->run_at(pattern->context, k);
    for (int64_t i = 0; i < run.size; ++i) memory[run.memory + i] = bench_byte(run.file + i);
  }
}

// Number of bytes that are not what fill() would have left.
static int64_t wrong_bytes(const bench_pattern_t* pattern, const unsigned char* memory) {
  unsigned char* expected = malloc((size_t)pattern->memory_bytes + 1);
  if (!expected) bench_check(MPI_ERR_NO_MEM, "malloc");
  fill(pattern, expected);
  int64_t wrong = 0;
  if (memcmp(expected, memory, (size_t)pattern->memory_bytes) != 0)
    for (int64_t i = 0; i < pattern->memory_bytes; ++i) wrong += expected[i] != memory[i];
  free(expected);
  return wrong;
}

static int64_t payload(const bench_pattern_t* pattern) {
  int64_t bytes = 0;
  for (int64_t k = 0; k < pattern->runs; ++k) bytes += pattern->run_at(pattern->context, k).size;
  return bytes;
}

// Measurement

typedef struct {
  double open, operation, close;  // seconds, see end_part()
  int64_t wrong;                  // bytes, on all ranks
} outcome_t;

static double begin_part(void) { return timing_begin(MPI_COMM_WORLD); }

// Seconds from the first rank's begin to the last one's end, on the node where that is longest.
static double end_part(MPI_Comm node, double begin) {
  return timing_slowest(timing_span(node, begin, clock_now()));
}

// Opens, writes or reads once and closes.
static outcome_t operation(const bench_options_t* options, const bench_pattern_t* pattern,
                           int writing, unsigned char* memory, int64_t bytes) {
  const bench_access_t* const ways[] = {&bench_collective, &bench_contiguous, pattern->by_hand};
  const bench_access_t* access = ways[options->access];
  outcome_t outcome = {0, 0, 0, 0};
  bench_file_t file;
  double begin = begin_part();
  access->open(&file, options, pattern, writing);
  outcome.open = end_part(options->node, begin);

  begin = begin_part();
  const int64_t moved = access->transfer(&file, pattern, writing, memory);
  outcome.operation = end_part(options->node, begin);

  if (moved != bytes) outcome.wrong += bytes > moved ? bytes - moved : moved - bytes;
  begin = begin_part();
  access->close(&file);
  outcome.close = end_part(options->node, begin);
  return outcome;
}

static outcome_t write_once(const bench_options_t* options, const bench_pattern_t* pattern,
                            unsigned char* memory, int64_t bytes) {
  if (world_rank() == 0) MPI_File_delete(options->file, MPI_INFO_NULL);  // it need not be there
  fill(pattern, memory);
  outcome_t outcome = operation(options, pattern, 1, memory, bytes);
  if (options->verify) outcome.wrong += wrong_bytes(pattern, memory);  // a write leaves its buffer
  return outcome;
}

static outcome_t read_once(const bench_options_t* options, const bench_pattern_t* pattern,
                           unsigned char* memory, int64_t bytes) {
  memset(memory, kMemoryGap, (size_t)pattern->memory_bytes);
  outcome_t outcome = operation(options, pattern, 0, memory, bytes);
  if (options->verify) outcome.wrong += wrong_bytes(pattern, memory);
  return outcome;
}

static void print_outcome(const char* name, int repetition, const outcome_t* outcome, int64_t wrong,
                          int first) {
  printf(
      "%s{\"op\": \"%s\", \"repetition\": %d, \"seconds\": %.6f, \"open_s\": %.6f, "
      "\"close_s\": %.6f, \"wrong_bytes\": %lld}",
      first ? "" : ", ", name, repetition, outcome->operation, outcome->open, outcome->close,
      (long long)wrong);
}

static void print_head(const bench_options_t* options, const bench_pattern_t* pattern,
                       int64_t bytes) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  printf(
      "{\"program\": \"%s\", \"mpi\": \"%s\", \"ranks\": %d, \"shape\": %s, "
      "\"access\": \"%s\", \"bytes\": %lld, \"file_bytes\": %lld, \"verified\": %s, "
      "\"results\": [",
      pattern->program, library_name(library), ranks, pattern->shape, options->access_word,
      (long long)bytes, (long long)pattern->file_bytes, options->verify ? "true" : "false");
}

static int64_t sum_over_ranks(int64_t value) {
  int64_t sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// Writes and reads as often as asked and prints the line; returns the wrong bytes of all ranks.
static int64_t measure(const bench_options_t* options, const bench_pattern_t* pattern,
                       int64_t own) {
  unsigned char* memory = malloc((size_t)pattern->memory_bytes + 1);
  if (!memory) bench_check(MPI_ERR_NO_MEM, "malloc");
  const int64_t all = sum_over_ranks(own);
  const int first_rank = world_rank() == 0;
  int64_t total_wrong = 0;
  int printed = 0;
  if (first_rank) print_head(options, pattern, all);
  // All writes come first: who reads what has just been written finds what that way of writing left
  // in the caches, and its own time depends on it.
  for (int reading = 0; reading < 2; ++reading) {
    if (reading ? !options->read : !options->write) continue;
    double spent = 0;  // the same on all ranks
    for (int r = 0; r < options->repetitions && spent < options->seconds; ++r) {
      const outcome_t outcome = reading ? read_once(options, pattern, memory, own)
                                        : write_once(options, pattern, memory, own);
      const int64_t wrong = sum_over_ranks(outcome.wrong);
      total_wrong += wrong;
      if (first_rank) print_outcome(reading ? "read" : "write", r, &outcome, wrong, !printed++);
      spent += outcome.operation;
    }
  }
  if (first_rank) {
    printf("]}\n");
    fflush(stdout);
    if (total_wrong) fprintf(stderr, "%lld bytes are wrong\n", (long long)total_wrong);
  }
  free(memory);
  return total_wrong;
}

int bench_run(const bench_options_t* options, const bench_pattern_t* pattern) {
  const int64_t own = payload(pattern);
  if (options->access == kByHand && !pattern->by_hand)
    bench_refuse("--access by-hand: nobody has written this pattern by hand");
  if (options->access != kContiguously) return measure(options, pattern, own) != 0;
  bench_run_t run;
  const bench_pattern_t packed = bench_packed(pattern, own, &run);
  return measure(options, &packed, own) != 0;
}
