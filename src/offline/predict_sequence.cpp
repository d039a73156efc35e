// haichi predict-sequence: the time of a recorded program by its sequence of calls. What
// `haichi predict --by sequence` starts.
#include <errno.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/os.h"
#include "base/version.h"
#include "launch/usage.h"
#include "machine/profile.h"
#include "offline/commands.h"
#include "predict/prediction.h"
#include "record/read_record.h"

namespace haichi::offline {
namespace {

using Json = nlohmann::ordered_json;

struct Words {
  std::string record, machine, placement, algorithm;
  double compute_scale = 1;
  bool json = false;
};

std::unique_ptr<CLI::App> command_line(Words& words) {
  auto app = std::make_unique<CLI::App>(
      "Predicts the time of a recorded program by its sequence of calls.",
      "haichi predict-sequence");
  app->add_option("RECORD", words.record, "haichi.record/1, with sequences")->required();
  app->add_option("--machine", words.machine, "Its profile, as `haichi fit` writes it")
      ->type_name("FILE")
      ->required();
  app->add_option("--placement", words.placement, "Where the ranks are to be; else as recorded")
      ->type_name("FILE");
  app->add_option("--algorithm", words.algorithm,
                  "Of all-to-alls and all-gathers that it can carry out, such as ring or bruck(4)")
      ->type_name("NAME");
  app->add_option("--compute-scale", words.compute_scale,
                  "Of all computing: 0.5 is a processor twice as fast")
      ->check(CLI::Range(0.0, 1e6));
  app->add_flag("--json", words.json, "As JSON");
  return app;
}

Result<machine::Profile> profile_of(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  auto profile = machine::parse_profile(*text);
  if (!profile) return fail(profile.error().code, "{}: {}", file, profile.error().text);
  return profile;
}

Result<collectives::Candidate> exchange_of(const std::string& name) {
  auto found = collectives::parse_candidate(name);
  // The engine has all messages of a call under way at a time.
  if (found && found->parameters.window > 0)
    return fail(EINVAL, "--algorithm {}: a window is not predicted: leave it out", name);
  return found;
}

Json share_as_json(const predict::Share& share) {
  return {{"calls", share.calls},
          {"transfer_s", sim::seconds(share.transfer)},
          {"waiting_s", sim::seconds(share.waiting)}};
}

// Of the rank that ends last, unless it says otherwise.
std::string as_json(const predict::Prediction& prediction) {
  const predict::Outcome& outcome = prediction.outcome;
  Json ranks = Json::array(), functions = Json::array(), path = Json::array();
  predict::RankShare all;
  for (size_t r = 0; r < outcome.ranks.size(); ++r) {
    const predict::RankShare& rank = outcome.ranks[r];
    Json entry = {{"rank", r},
                  {"total_s", sim::seconds(rank.end)},
                  {"compute_s", sim::seconds(rank.computing)}};
    entry.update(share_as_json(rank));
    entry["recorded_s"] = sim::seconds(rank.recorded);
    entry["caused_s"] = sim::seconds(rank.caused);
    ranks.push_back(std::move(entry));
    if (rank.end >= all.end) all = rank;
  }
  for (const predict::FunctionShare& each : outcome.functions) {
    Json entry = {{"function", each.function}, {"by_numbers", each.by_numbers}};
    entry.update(share_as_json(each));
    functions.push_back(std::move(entry));
  }
  for (const predict::PathShare& each : outcome.path) {
    Json entry = {{"what", each.function.empty() ? "compute" : each.function}};
    if (!each.place.empty()) entry["place"] = each.place;
    entry.update(
        {{"seconds", sim::seconds(each.time)}, {"messages", each.messages}, {"bytes", each.bytes}});
    path.push_back(std::move(entry));
  }
  Json document = {{"haichi", kVersion}, {"total_s", sim::seconds(outcome.end())}};
  if (prediction.has_interval)
    document.update({{"low_s", prediction.low_s}, {"high_s", prediction.high_s}});
  document.update({{"compute_s", sim::seconds(all.computing)},
                   {"transfer_s", sim::seconds(all.transfer)},
                   {"waiting_s", sim::seconds(all.waiting)},
                   {"nodes", prediction.nodes},
                   {"events", outcome.events},
                   {"messages", outcome.messages},
                   {"complete", outcome.problems.empty()},
                   {"problems", outcome.problems},
                   {"notes", prediction.notes},
                   {"ranks", std::move(ranks)},
                   {"functions", std::move(functions)},
                   {"critical_path", std::move(path)}});
  return document.dump(2) + "\n";
}

std::string as_text(const predict::Prediction& prediction) {
  const predict::Outcome& outcome = prediction.outcome;
  std::string text = fmt::format("{:.6g} s", sim::seconds(outcome.end()));
  if (prediction.has_interval)
    text += fmt::format(", from {:.6g} to {:.6g} s", prediction.low_s, prediction.high_s);
  text += fmt::format(": {} ranks on {} node{}, {} calls\n", outcome.ranks.size(), prediction.nodes,
                      prediction.nodes == 1 ? "" : "s", outcome.events);
  for (const std::string& line : outcome.problems) text += fmt::format("stopped: {}\n", line);
  for (const std::string& line : prediction.notes) text += fmt::format("note: {}\n", line);
  text += "\ncritical path                      place       seconds    share   messages\n";
  for (const predict::PathShare& each : outcome.path)
    text += fmt::format(
        "{:<34} {:<8} {:>12.6g} {:>7.1f}% {:>10}\n",
        each.function.empty() ? "computing" : each.function, each.place, sim::seconds(each.time),
        100 * sim::seconds(each.time) / std::max(1e-12, sim::seconds(outcome.end())),
        each.messages);
  text += "\nfunction, over all ranks                calls     transfer s      waiting s\n";
  for (const predict::FunctionShare& each : outcome.functions)
    text += fmt::format("{:<34} {:>10} {:>14.6g} {:>14.6g}\n", each.function, each.calls,
                        sim::seconds(each.transfer), sim::seconds(each.waiting));
  return text;
}

}  // namespace

int predict_sequence_command(const Arguments& arguments) {
  Words words;
  const auto app = command_line(words);
  if (const int code = launch::parse_words(*app, arguments); code >= 0) return code;
  const auto profile = profile_of(words.machine);
  if (!profile) return refuse(kConfig, profile.error().text);
  const auto record = record::read_record_file(words.record, {.calls = false, .traffic = false});
  if (!record) return refuse(kConfig, record.error().text);
  predict::Wish wish{.compute_scale = words.compute_scale};
  if (!words.placement.empty()) {
    auto placement = placement_of(words.placement, record->ranks);
    if (!placement) return refuse(kConfig, placement.error().text);
    wish.placement = *std::move(placement);
  }
  if (!words.algorithm.empty()) {
    auto exchange = exchange_of(words.algorithm);
    if (!exchange) return refuse(kConfig, exchange.error().text);
    wish.exchange = *exchange;
  }
  const auto prediction = predict::predict(*record, *profile, wish);
  if (!prediction)
    return refuse(kConfig, fmt::format("{}: {}", words.record, prediction.error().text));
  fputs((words.json ? as_json(*prediction) : as_text(*prediction)).c_str(), stdout);
  return fflush(stdout) == 0 ? 0 : refuse(kUnavailable, "standard output can't be written");
}

}  // namespace haichi::offline
