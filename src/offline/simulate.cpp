// haichi simulate: what if this exchange ran on that machine, with the ranks placed like so?
#include <errno.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <new>

#include "base/os.h"
#include "launch/usage.h"
#include "machine/profile.h"
#include "offline/commands.h"
#include "offline/simulate_request.h"
#include "offline/simulate_results.h"

namespace haichi::offline {
namespace {

// The words of the command line that need a closer look than CLI11's.
struct Words {
  std::string pattern, file, machine, sweep, trace, record;
  std::map<std::string_view, std::string> parameters;  // that were given, by name
  std::vector<std::string> assignments;
  bool json = false, per_rank = false;
};

std::vector<std::string> pattern_names() {
  std::vector<std::string> names;
  for (const patterns::Pattern& each : patterns::patterns()) names.emplace_back(each.name);
  return names;
}

void add_parameters(CLI::App& app, Words& words) {
  for (const patterns::Parameter& each : patterns::parameters()) {
    if (each.name == "file") continue;  // stands without a name
    std::vector<std::string_view> users;
    for (const patterns::Pattern& pattern : patterns::patterns())
      if (pattern.has(each.name)) users.push_back(pattern.name);
    app.add_option_function<std::string>(
           fmt::format("--{}", each.name),
           [&words, name = each.name](const std::string& value) { words.parameters[name] = value; },
           fmt::format("{} ({})", each.help, fmt::join(users, ", ")))
        ->type_name(std::string(each.type));
  }
}

std::unique_ptr<CLI::App> command_line(SimulateRequest& request, Words& words) {
  auto app = std::make_unique<CLI::App>(
      "Runs haichi's schedules on a machine that is not there, and says when each rank is done.",
      "haichi simulate");
  const std::vector<std::string> names = pattern_names();
  app->add_option("PATTERN", words.pattern, fmt::format("{}", fmt::join(names, ", ")))
      ->required()
      ->check(CLI::IsMember(names));
  app->add_option("FILE", words.file, "Of alltoallv: a matrix of bytes. Of schedule: a record");
  app->add_option("--nodes", request.nodes, "Nodes of BK and RR")->check(CLI::PositiveNumber);
  app->add_option("--ppn", request.per_node, "Ranks on each of them, default 1")
      ->check(CLI::PositiveNumber);
  app->add_option("--placement", request.placement,
                  "BK (node after node, the default), RR (dealt out), or a placement file")
      ->type_name("BK|RR|FILE");
  app->add_option("--ranks", request.ranks, "Ranks in that file, where its notation does not say")
      ->check(CLI::PositiveNumber);
  add_parameters(*app, words);
  app->add_option("--machine", words.machine, "Machine description, JSON")->type_name("FILE");
  app->add_option("--set", words.assignments, "One number of the machine, or its network")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app->add_option("--sweep", words.sweep,
                  "Once for each value of a --set key, of an option of the pattern, or of nodes or "
                  "ppn")
      ->type_name("KEY=VALUE,VALUE,...");
  app->add_option("--skew", request.skew_ns, "Ranks start within so many nanoseconds")
      ->check(CLI::Range(0.0, 1e12));
  app->add_option("--noise", request.noise, "Mean share that a rank's own work takes longer")
      ->check(CLI::Range(0.0, 100.0));
  app->add_option("--seed", request.seed, "Of skew and noise, default 0");
  app->add_option("--trace", words.trace, "Write a report of the run (haichi.report/1)")
      ->type_name("FILE");
  app->add_option("--record", words.record, "Write the schedules (haichi.schedule/1)")
      ->type_name("FILE");
  app->add_option("--memory", request.memory, "Memory that it may take, default what is free")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::PositiveNumber);
  app->add_flag("--progress", request.progress, "Say how far it is, also where no terminal is");
  app->add_flag("--json", words.json, "As JSON (haichi.simulation/1)");
  app->add_flag("--per-rank", words.per_rank, "With --json: the time of each rank");
  return app;
}

// A,B(C,D) is A and B(C,D).
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> values(1);
  int open = 0;
  for (const char c : text) {
    open += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && open == 0)
      values.emplace_back();
    else
      values.back() += c;
  }
  return values;
}

// KEY and VALUE of KEY=VALUE; VALUE is empty if there is no such thing.
std::pair<std::string, std::string> halves(const std::string& text) {
  const size_t at = text.find('=');
  if (at == text.npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

Status check_one_case(const SimulateRequest& request, const Words& words) {
  if (request.cases() == 1 || (words.trace.empty() && words.record.empty())) return {};
  return fail(EINVAL, "--trace and --record are of one case, not of {}: say which order and layout",
              request.cases());
}

Status read_words(SimulateRequest& request, const Words& words) {
  if (!words.file.empty())
    if (auto done = assign(request, "file", words.file); !done) return done;
  for (const auto& [name, value] : words.parameters)
    if (auto done = assign(request, name, value); !done) return done;
  for (const std::string& assignment : words.assignments) {
    const auto [key, value] = halves(assignment);
    if (auto done = assign(request, key, value); !done)
      return fail(EINVAL, "--set {}: {}", assignment, done.error().text);
  }
  const auto [key, values] = halves(words.sweep);
  // What an algorithm says of the order counts; others have none.
  const bool by_algorithm = words.parameters.count("algorithm") || key == "algorithm";
  if (by_algorithm && !words.parameters.count("order"))
    if (auto done = assign(request, "order", "nd_rank_shift"); !done) return done;
  if (words.sweep.empty()) return check_one_case(request, words);
  request.sweep_key = key;
  request.sweep_values = listed(values);
  for (const std::string& value : request.sweep_values) {
    SimulateRequest tried = request;
    if (auto done = assign(tried, key, value); !done)
      return fail(EINVAL, "--sweep {}: {}", words.sweep, done.error().text);
  }
  return check_one_case(request, words);
}

Status write_files(const SimulateRow& row, const Words& words) {
  Status done;
  if (!words.record.empty()) done = write_file_atomically(words.record, row.record);
  if (done && !words.trace.empty()) done = write_file_atomically(words.trace, row.report);
  return done;
}

// What the estimate did not foresee.
Result<std::vector<SimulateRow>> run_within_memory(const SimulateRequest& request) {
  try {
    return run_simulations(request);
  } catch (const std::bad_alloc&) {
    return fail(ENOMEM, "there is not enough memory: take fewer ranks or messages");
  }
}

}  // namespace

int simulate_command(const Arguments& arguments) {
  SimulateRequest request;
  Words words;
  const auto app = command_line(request, words);
  if (const int code = launch::parse_words(*app, arguments); code >= 0) return code;
  request.use(*patterns::find_pattern(words.pattern));
  if (!words.machine.empty()) {
    const auto text = read_file(words.machine);
    if (!text) return refuse(kConfig, text.error().text);
    auto profile = machine::parse_profile(*text);
    if (!profile)
      return refuse(kConfig, fmt::format("{}: {}", words.machine, profile.error().text));
    request.machine = std::move(profile->machine);
  }
  if (auto done = read_words(request, words); !done) return refuse(kUsage, done.error().text);
  request.record = !words.record.empty();
  if (!words.trace.empty())
    request.traced_command = fmt::format("haichi simulate {}", fmt::join(arguments, " "));
  const auto rows = run_within_memory(request);
  if (!rows) return refuse(rows.error().code == ENOMEM ? kUnavailable : kUsage, rows.error().text);
  if (auto done = write_files(rows->front(), words); !done)
    return refuse(kUnavailable, done.error().text);
  const std::string text = words.json ? simulations_as_json(request, *rows, words.per_rank)
                                      : simulations_as_table(request, *rows);
  fputs(text.c_str(), stdout);
  return fflush(stdout) == 0 ? 0 : refuse(kUnavailable, "standard output can't be written");
}

}  // namespace haichi::offline
