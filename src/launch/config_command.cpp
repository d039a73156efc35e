// haichi config: the settings table with the values in force and where each came from.
#include "launch/config_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "launch/commands.h"
#include "launch/exec.h"
#include "launch/usage.h"

namespace haichi::launch {
namespace {

std::string_view kind_name(Setting::Kind kind) {
  constexpr std::string_view names[] = {"flag",  "choice", "integer", "bytes",
                                        "bytes", "path",   "text"};
  return names[int(kind)];
}

// What may be written for a setting, for people.
std::string notation(const Setting& setting) {
  switch (setting.kind) {
    case Setting::Kind::flag:
      return "0 or 1";
    case Setting::Kind::choice: {
      std::string words(setting.choices);
      for (size_t at; (at = words.find('|')) != words.npos;) words.replace(at, 1, ", ");
      return "one of " + words;
    }
    case Setting::Kind::integer:
      return "a whole number";
    case Setting::Kind::bytes:
    case Setting::Kind::bytes_or_none:
      return "a size: bytes, or with k, M, G, T (powers of 1024)";
    case Setting::Kind::path:
      return "a path";
    case Setting::Kind::text:
      return "text";
  }
  return "";
}

std::string toml_value(const Setting& setting, const std::string& value) {
  if (setting.kind == Setting::Kind::integer) return value;
  if (setting.kind == Setting::Kind::flag) return value == "0" || value.empty() ? "false" : "true";
  return nlohmann::json(value).dump();  // TOML's basic strings are JSON's
}

}  // namespace

std::string config_as_table(const EffectiveSettings& settings) {
  size_t key_width = 0, value_width = 0;
  for (const Effective& row : settings.rows) {
    key_width = std::max(key_width, row.setting->key.size());
    value_width = std::max(value_width, row.value.size());
  }
  std::string text;
  for (const Effective& row : settings.rows)
    text += fmt::format("{:{}}  {:{}}  {}\n", row.setting->key, key_width,
                        row.value.empty() ? "-" : row.value, value_width, row.source);
  return text;
}

std::string config_as_json(const EffectiveSettings& settings) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](std::string_view text) { return text.empty() ? Json() : Json(text); };
  Json rows = Json::array();
  for (const Effective& row : settings.rows) {
    const Setting& s = *row.setting;
    rows.push_back({{"key", s.key},
                    {"variable", s.variable},
                    {"hint", or_null(s.hint)},
                    {"kind", kind_name(s.kind)},
                    {"choices", or_null(s.choices)},
                    {"default", s.fallback},
                    {"help", s.help},
                    {"value", row.value},
                    {"source", row.source},
                    {"problem", or_null(row.problem)}});
  }
  const Json document = {{"schema", "haichi.settings/1"},
                         {"file", or_null(settings.file)},
                         {"settings", rows},
                         {"warnings", settings.warnings}};
  return document.dump(2) + "\n";
}

std::string config_as_toml(const EffectiveSettings& settings) {
  std::string text;
  for (const Effective& row : settings.rows) {
    const Setting& s = *row.setting;
    if (s.key == "config") continue;  // names this file, and so can't stand in it
    text += fmt::format("# {}\n# {}; default {}\n{}{} = {}\n\n", s.help, notation(s),
                        s.fallback.empty() ? "empty" : s.fallback,
                        row.value == s.fallback ? "# " : "", s.key, toml_value(s, row.value));
  }
  return text;
}

std::string config_as_environment(const EffectiveSettings& settings) {
  Environment environment;
  export_settings(settings, environment);
  std::string text;
  for (const std::string& entry : environment.entries())
    if (entry.find('\n') == entry.npos) text += entry + "\n";
  return text;
}

std::string config_as_manual() {
  std::string text =
      "# haichi-environment(7)\n\n"
      "## NAME\n\nhaichi-environment - settings of haichi\n\n"
      "## DESCRIPTION\n\n"
      "Every setting has an environment variable and a key. The key is used in `haichi.toml`, by "
      "`haichi run --set key=value` and in the run report. The command line wins over the "
      "environment, the environment over `haichi.toml`, and that over the default. Where a hint is "
      "named, an `MPI_Info` object with that key wins over all of them for its file.\n\n"
      "`haichi config` lists the values in force and where each came from. This page is printed by "
      "`haichi config --man`.\n\n"
      "## SETTINGS\n";
  for (const Setting& s : kSettings) {
    text += fmt::format("\n`{}`\n: {} Key `{}`, {}", s.variable, s.help, s.key, notation(s));
    if (!s.hint.empty()) text += fmt::format(", hint `{}`", s.hint);
    text +=
        s.fallback.empty() ? ". Default: empty.\n" : fmt::format(". Default: `{}`.\n", s.fallback);
  }
  return text + "\n## SEE ALSO\n\nhaichi-run(1)\n";
}

int config_command(Invocation invocation) {
  bool json = false, toml = false, variables = false, manual = false;
  std::vector<std::string> assignments;
  CLI::App app("Lists haichi's settings, their values here, and where each came from.",
               "haichi config");
  auto* form = app.add_option_group("form");
  form->add_flag("--json", json, "As JSON (haichi.settings/1)");
  form->add_flag("--toml", toml, "As a haichi.toml");
  form->add_flag("--env", variables, "What haichi.toml says, as lines NAME=VALUE");
  form->add_flag("--man", manual, "As the manual page haichi-environment(7), in Markdown");
  form->require_option(0, 1);
  if (const int code = parse_words(app, invocation.words); code >= 0) return code;
  if (manual) {
    fputs(config_as_manual().c_str(), stdout);
    return 0;
  }
  const auto settings = effective_settings(invocation.environment, assignments);
  if (!settings) return refuse(kConfig, settings.error().text);
  const std::string text = json        ? config_as_json(*settings)
                           : toml      ? config_as_toml(*settings)
                           : variables ? config_as_environment(*settings)
                                       : config_as_table(*settings);
  fputs(text.c_str(), stdout);
  fflush(stdout);
  int code = 0;
  for (const std::string& warning : settings->warnings) log_line(LogLevel::warn, warning);
  for (const Effective& row : settings->rows)
    if (!row.problem.empty()) code = refuse(kConfig, row.problem);
  return code;
}

}  // namespace haichi::launch
