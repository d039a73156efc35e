// oracle_cases: random collective file accesses, held against the byte model of the MPI standard.
//
// A plain MPI program that knows nothing of haichi; it is run with and without it. Many cases run
// in one job. Prints the seed and number of every case that fails, what was wrong and the case as
// text; exit code 1 if any failed, 2 for bad usage, 3 if a case did not end in time.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "oracle/case_runner.h"
#include "oracle/mpi_type.h"
#include "oracle/type_generator.h"
#include "oracle/watchdog.h"

namespace {

using namespace oracle;

struct Options {
  RunOptions run;
  Features features;
  uint64_t seed = 1, first = 0, cases = 100, types = 0;
  unsigned limit = 60;
  int dump_ranks = 0;
  bool keep_going = false;
};

const char kUsage[] =
    "usage: oracle_cases [--seed S] [--cases N] [--first K] [--avoid LIST | --only LIST]\n"
    "                    [--stock] [--keep-going] [--limit SECONDS] [--dir PATH] [--verbose]\n"
    "                    [--dump RANKS] [--types N] [--features]\n"
    "  --dump RANKS  print the cases as RANKS ranks would run them, and run nothing\n"
    "  --types N     hold N random datatypes against the library's extents and MPI_Pack instead\n"
    "  --features    list what --avoid and --only know\n";

uint64_t g_case = 0, g_seed = 0;

void note_progress(const char* where) {
  char text[sizeof g_where];
  std::snprintf(text, sizeof text, "case %llu of seed %llu, %s", (unsigned long long)g_case,
                (unsigned long long)g_seed, where);
  tell_watchdog(text);
}

[[noreturn]] void usage_error(const std::string& what) {
  std::fprintf(stderr, "oracle_cases: %s\n%s", what.c_str(), kUsage);
  std::exit(2);
}

uint64_t number(const char* option, const char* text) {
  char* end = nullptr;
  const unsigned long long value = text ? std::strtoull(text, &end, 10) : 0;
  if (!text || !*text || *end) usage_error(std::string(option) + " needs a whole number");
  return value;
}

void list_features() {
  for (const FeatureRow& row : feature_table()) std::printf("%-15s %s\n", row.name, row.what);
  std::exit(0);
}

void parse_list(Options& options, bool only, const char* list) {
  if (!list) usage_error("--avoid and --only need a list");
  const auto unknown = only ? options.features.keep_only(list) : options.features.leave_out(list);
  if (unknown) usage_error("unknown feature " + *unknown + "; --features lists them");
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> const char* { return ++i < argc ? argv[i] : nullptr; };
    if (word == "--stock")
      options.run.stock = true;
    else if (word == "--verbose")
      options.run.verbose = true;
    else if (word == "--keep-going")
      options.keep_going = true;
    else if (word == "--features")
      list_features();
    else if (word == "--seed")
      options.seed = number("--seed", value());
    else if (word == "--first")
      options.first = number("--first", value());
    else if (word == "--cases")
      options.cases = number("--cases", value());
    else if (word == "--types")
      options.types = number("--types", value());
    else if (word == "--limit")
      options.limit = unsigned(number("--limit", value()));
    else if (word == "--dump")
      options.dump_ranks = int(number("--dump", value()));
    else if (word == "--avoid" || word == "--only")
      parse_list(options, word == "--only", value());
    else if (word == "--dir") {
      const char* path = value();
      if (!path) usage_error("--dir needs a path");
      options.run.directory = path;
    } else
      usage_error("unknown option " + word);
  }
  return options;
}

void say(const std::string& text) {
  if (write(2, text.data(), text.size()) < 0) std::exit(4);
}

// One case on the ranks that it wants; the others wait. Returns whether it went well.
bool run_case(const Options& options, uint64_t number, int64_t& calls) {
  int world = 1, me = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  g_case = number;
  note_progress("start");
  alarm(options.limit);
  const Plan plan = make_plan(options.seed, number, world, options.features);
  const auto place = std::find(plan.members.begin(), plan.members.end(), me);
  const bool member = place != plan.members.end();
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, int(place - plan.members.begin()),
                 &comm);
  std::vector<std::string> problems;
  if (member) {
    CaseRunner runner(plan, comm, options.run, note_progress);
    problems = runner.run();
    calls += runner.collective_calls();
    MPI_Comm_free(&comm);
  }
  int mine = !problems.empty(), any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  alarm(0);
  if (any) {
    std::string text;
    for (const std::string& problem : problems) text += "oracle: FAILED " + problem + "\n";
    say(text);
    MPI_Barrier(MPI_COMM_WORLD);
    if (member && plan.members.front() == me) say(describe(plan));
  }
  return !any;
}

int run_cases(const Options& options) {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  uint64_t failed = 0, ran = 0;
  int64_t calls = 0;
  std::string numbers;
  for (uint64_t i = 0; i < options.cases; ++i) {
    const uint64_t number = options.first + i;
    ++ran;
    const bool good = run_case(options, number, calls);
    if (options.run.verbose && me == 0) say("oracle: case " + std::to_string(number) + " done\n");
    if (good) continue;
    ++failed;
    numbers += " " + std::to_string(number);
    if (!options.keep_going) break;
  }
  int64_t most = 0;
  MPI_Reduce(&calls, &most, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  if (me == 0) {
    std::printf("oracle: %llu cases, %llu failed, %lld collective calls, seed %llu%s%s\n",
                (unsigned long long)ran, (unsigned long long)failed, (long long)most,
                (unsigned long long)options.seed, failed ? ", numbers" : "", numbers.c_str());
  }
  return failed ? 1 : 0;
}

// Bounds and size as the library has them, and the order of the bytes as MPI_Pack gives them.
std::string compare_type(const Type& type, uint64_t key) {
  MPI_Datatype handle = make_mpi_type(type);
  MPI_Aint lower = 0, extent = 0;
  int size = 0;
  MPI_Type_get_extent(handle, &lower, &extent);
  MPI_Type_size(handle, &size);
  const Typemap& map = type.map;
  char text[200] = "";
  if (size != map.size() || (size > 0 && (lower != map.lower() || extent != map.extent())))
    std::snprintf(text, sizeof text, "size %d lb %ld extent %ld; the model has %ld %ld %ld", size,
                  long(lower), long(extent), long(map.size()), long(map.lower()),
                  long(map.extent()));
  const int count = 3;
  const MemoryMap memory(map, count);
  std::vector<uint8_t> from(size_t(memory.high() - memory.low() + 1)), expected, packed;
  for (size_t i = 0; i < from.size(); ++i) from[i] = pattern(key, int64_t(i));
  for (const Piece& piece : memory.pieces())
    expected.insert(expected.end(), from.begin() + (piece.at - memory.low()),
                    from.begin() + (piece.at + piece.length - memory.low()));
  packed.resize(expected.size() + 64);
  int position = 0;
  MPI_Pack(from.data() - memory.low(), count, handle, packed.data(), int(packed.size()), &position,
           MPI_COMM_SELF);
  packed.resize(size_t(position));
  free_mpi_type(type, handle);
  if (text[0]) return text;
  return packed == expected ? "" : "MPI_Pack gives other bytes";
}

int compare_types(const Options& options) {
  uint64_t differ = 0;
  for (uint64_t i = options.first; i < options.first + options.types; ++i) {
    Rng rng({options.seed, i});
    Rules rules{.view = rng.chance(30),
                .overlap = rng.chance(30) && options.features.has(Feature::overlap_memory),
                .most_basics = 2000};
    TypeGenerator generator(rng, options.features, rules,
                            [&] { return random_leaf(rng, options.features, rules.view); });
    const TypePtr type = generator.make(int(rng.between(1, 4)), true);
    if (options.run.verbose)
      say("oracle: type " + std::to_string(i) + ": " + to_text(*type) + "\n");
    const std::string problem = compare_type(*type, i);
    if (problem.empty()) continue;
    if (++differ <= 20)
      say("oracle: type " + std::to_string(i) + ": " + problem + ": " + to_text(*type) + "\n");
  }
  std::printf("oracle: %llu types, %llu differ\n", (unsigned long long)options.types,
              (unsigned long long)differ);
  return differ ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  g_seed = options.seed;
  if (options.dump_ranks > 0) {
    for (uint64_t i = options.first; i < options.first + options.cases; ++i)
      std::printf(
          "%s", describe(make_plan(options.seed, i, options.dump_ranks, options.features)).c_str());
    return 0;
  }
  start_watchdog();
  MPI_Init(&argc, &argv);
  const int result = options.types > 0 ? compare_types(options) : run_cases(options);
  MPI_Finalize();
  return result;
}
