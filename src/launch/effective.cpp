#include "launch/effective.h"

#include <errno.h>

#include "launch/config_file.h"

namespace haichi::launch {
namespace {

constexpr std::string_view kDefault = "default";
constexpr std::string_view kEnvironment = "environment";

Effective& row_of(EffectiveSettings& settings, const Setting* setting) {
  return settings.rows[size_t(setting - std::begin(kSettings))];
}

void take_environment(const Environment& environment, EffectiveSettings& settings) {
  for (const std::string& entry : environment.entries()) {
    if (!entry.starts_with("HAICHI_")) continue;
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    const std::string_view value = std::string_view(entry).substr(name.size() + 1);
    const Setting* setting = setting_by_variable(name);
    if (!setting) {
      const Setting* near = setting_near(name);
      settings.warnings.push_back(
          fmt::format("unknown setting {}{}; `haichi config` lists them all", name,
                      near ? fmt::format(", did you mean {}?", near->variable) : ""));
      continue;
    }
    Effective& row = row_of(settings, setting);
    row.value = value;
    row.source = kEnvironment;
    const auto right = check_value(*setting, value);
    row.problem = right ? "" : fmt::format("{}={}: {}", name, value, right.error().text);
  }
}

void take_file(std::vector<FileSetting>& given, EffectiveSettings& settings) {
  for (FileSetting& one : given)
    row_of(settings, one.setting) = {one.setting, std::move(one.value), std::move(one.place), ""};
}

void take_site(const ConfigFile& site, EffectiveSettings& settings) {
  auto given = parse_config(site.text, site.path);
  if (given)
    take_file(*given, settings);
  else
    settings.warnings.push_back(fmt::format("{} is ignored: {}", site.path, given.error().text));
}

Status take_assignment(const std::string& assignment, EffectiveSettings& settings) {
  const size_t equals = assignment.find('=');
  if (equals == assignment.npos)
    return fail(EINVAL, "--set {}: write it as key=value, e.g. io.order=rank", assignment);
  const std::string key = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  const Setting* setting = find_setting(key);
  if (!setting) {
    const Setting* near = setting_near(key);
    return fail(EINVAL, "--set {}: unknown key{}; `haichi config` lists them all", assignment,
                near ? fmt::format(", did you mean {}?", near->key) : "");
  }
  if (auto right = check_value(*setting, value); !right)
    return fail(EINVAL, "--set {}: {}", assignment, right.error().text);
  row_of(settings, setting) = {setting, value, "command line", ""};
  return {};
}

}  // namespace

Result<EffectiveSettings> effective_settings(const Environment& environment,
                                             const std::vector<std::string>& assignments,
                                             const std::string& site) {
  EffectiveSettings settings;
  for (const Setting& setting : kSettings)
    settings.rows.push_back({&setting, std::string(setting.fallback), std::string(kDefault), ""});
  // --set config=FILE names the file to read, so it is looked at before the others.
  Environment where = environment;
  for (const std::string& assignment : assignments)
    if (assignment.starts_with("config=")) where.set("HAICHI_CONFIG", assignment.substr(7));
  const auto found = find_config(where, site);
  if (!found) return tl::unexpected(found.error());
  settings.warnings = found->ignored;
  if (found->site) take_site(*found->site, settings);
  if (found->file) {
    auto given = parse_config(found->file->text, found->file->path);
    if (!given) return tl::unexpected(given.error());
    settings.file = found->file->path;
    take_file(*given, settings);
  }
  take_environment(environment, settings);
  for (const std::string& assignment : assignments)
    if (auto done = take_assignment(assignment, settings); !done)
      return tl::unexpected(done.error());
  return settings;
}

void export_settings(const EffectiveSettings& settings, Environment& environment) {
  for (const Effective& row : settings.rows)
    if (row.source != kDefault && row.source != kEnvironment)
      environment.set(row.setting->variable, row.value);
}

}  // namespace haichi::launch
