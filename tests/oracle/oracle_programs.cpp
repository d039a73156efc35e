// oracle_programs: random programs that write a file, none of whose bytes may be lost.
//
// A plain MPI program that knows nothing of haichi; it is run with and without it. Many programs
// run in one job, on all ranks of MPI_COMM_WORLD. Prints what is wrong with each that fails and the
// program in words; exit code 1 if any failed, 2 for bad usage, 3 if one did not end in time.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "oracle/program_runner.h"
#include "oracle/watchdog.h"

namespace {

using namespace oracle;

struct Options {
  ProgramRun run;
  ProgramFeatures features;
  uint64_t seed = 1, first = 0, programs = 100, repeat = 1;
  unsigned limit = 30;
  int dump_ranks = 0;
  bool keep_going = false, verbose = false, threads = true;
};

const char kUsage[] =
    "usage: oracle_programs [--seed S] [--programs N] [--first K] [--avoid LIST] [--only LIST]\n"
    "                       [--stock] [--keep-going] [--limit SECONDS] [--dir PATH] [--verbose]\n"
    "                       [--repeat N] [--single] [--dump RANKS] [--features]\n"
    "  --avoid LIST  leaves out features, and by a+b phases that have both\n"
    "  --only LIST   leaves out all features but these\n"
    "  --single      MPI_Init in place of MPI_THREAD_MULTIPLE; avoids threads\n"
    "  --repeat N    runs each program N times\n"
    "  --dump RANKS  print the programs as RANKS ranks would run them, and run nothing\n"
    "  --features    list what --avoid and --only know\n";

[[noreturn]] void usage_error(const std::string& what) {
  std::fprintf(stderr, "oracle_programs: %s\n%s", what.c_str(), kUsage);
  std::exit(2);
}

uint64_t number(const std::string& option, const char* text) {
  char* end = nullptr;
  const unsigned long long value = text ? std::strtoull(text, &end, 10) : 0;
  if (!text || !*text || *end) usage_error(option + " needs a whole number");
  return value;
}

void parse_list(Options& options, const std::string& option, const char* list) {
  if (!list) usage_error(option + " needs a list");
  const auto unknown =
      option == "--only" ? options.features.keep_only(list) : options.features.leave_out(list);
  if (unknown) usage_error("unknown feature " + *unknown + "; --features lists them");
}

bool parse_flag(Options& options, const std::string& word) {
  if (word == "--stock")
    options.run.stock = true;
  else if (word == "--keep-going")
    options.keep_going = true;
  else if (word == "--verbose")
    options.verbose = true;
  else if (word == "--single")
    options.threads = options.features.leave_out("threads").has_value();
  else
    return false;
  return true;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (parse_flag(options, word)) continue;
    if (word == "--features") {
      for (const FeatureRow& row : table_of(ProgramFeature{}))
        std::printf("%-12s %s\n", row.name, row.what);
      std::exit(0);
    }
    const char* const value = ++i < argc ? argv[i] : nullptr;
    if (word == "--seed")
      options.seed = number(word, value);
    else if (word == "--first")
      options.first = number(word, value);
    else if (word == "--programs")
      options.programs = number(word, value);
    else if (word == "--repeat")
      options.repeat = number(word, value);
    else if (word == "--limit")
      options.limit = unsigned(number(word, value));
    else if (word == "--dump")
      options.dump_ranks = int(number(word, value));
    else if (word == "--avoid" || word == "--only")
      parse_list(options, word, value);
    else if (word == "--dir" && value)
      options.run.directory = value;
    else
      usage_error("unknown option " + word);
  }
  options.threads = options.threads && options.features.has(ProgramFeature::threads);
  return options;
}

uint64_t g_program = 0, g_seed = 0;

void note_progress(const char* where) {
  char text[sizeof g_where];
  std::snprintf(text, sizeof text, "program %llu of seed %llu, %s", (unsigned long long)g_program,
                (unsigned long long)g_seed, where);
  tell_watchdog(text);
}

void say(const std::string& text) {
  if (write(2, text.data(), text.size()) < 0) std::exit(4);
}

bool run_program(const Options& options, const ProgramComms& comms, uint64_t number,
                 int64_t& calls) {
  int ranks = 1, me = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  g_program = number;
  note_progress("start");
  alarm(options.limit);
  const Program program = make_program(options.seed, number, ranks, options.features);
  ProgramRunner runner(program, comms, options.run, note_progress);
  const std::vector<std::string> problems = runner.run();
  calls += runner.collective_calls();
  note_progress("end");
  int mine = !problems.empty(), any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  alarm(0);
  if (any) {
    std::string text;
    for (const std::string& problem : problems)
      text += "oracle: FAILED rank " + std::to_string(me) + ", " + problem + "\n";
    say(text);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) say(to_text(program));
  }
  return !any;
}

int run_programs(const Options& options) {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  const ProgramComms comms;
  uint64_t failed = 0, ran = 0;
  int64_t calls = 0;
  std::string numbers;
  for (uint64_t i = 0; i < options.programs; ++i) {
    const uint64_t number = options.first + i;
    ++ran;
    bool good = true;
    for (uint64_t r = 0; r < options.repeat && good; ++r)
      good = run_program(options, comms, number, calls);
    if (options.verbose && me == 0) say("oracle: program " + std::to_string(number) + " done\n");
    if (good) continue;
    ++failed;
    numbers += " " + std::to_string(number);
    if (!options.keep_going) break;
  }
  int64_t most = 0;
  MPI_Reduce(&calls, &most, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  if (me == 0)
    std::printf("oracle: %llu programs, %llu failed, %lld collective calls, seed %llu%s%s\n",
                (unsigned long long)ran, (unsigned long long)failed, (long long)most,
                (unsigned long long)options.seed, failed ? ", numbers" : "", numbers.c_str());
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  g_seed = options.seed;
  if (options.dump_ranks > 0) {
    for (uint64_t i = options.first; i < options.first + options.programs; ++i)
      std::printf(
          "%s",
          to_text(make_program(options.seed, i, options.dump_ranks, options.features)).c_str());
    return 0;
  }
  start_watchdog();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, options.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  if (options.threads && provided < MPI_THREAD_MULTIPLE) {
    std::fprintf(stderr, "oracle_programs: this MPI has no MPI_THREAD_MULTIPLE; use --single\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int result = run_programs(options);
  MPI_Finalize();
  return result;
}
