#include "launch/config_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "base/os.h"
#include "base/trust.h"

namespace haichi::launch {
namespace {

// The value as a user would write it in the environment; nothing for arrays, dates and the like.
std::optional<std::string> as_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "1" : "0";
  return std::nullopt;
}

Status collect(const toml::table& table, const std::string& prefix, const std::string& name,
               std::vector<FileSetting>& settings) {
  for (const auto& [part, node] : table) {
    const std::string key = prefix + std::string(part.str());
    const std::string place = fmt::format("{}:{}", name, node.source().begin.line);
    const Setting* setting = find_setting(key);
    if (!setting && node.is_table()) {
      if (auto done = collect(*node.as_table(), key + ".", name, settings); !done) return done;
      continue;
    }
    if (!setting || setting->key == "config") {
      const Setting* near = setting_near(key);
      return fail(EINVAL, "{}: unknown key {}{}; `haichi config` lists them all", place, key,
                  near ? fmt::format(", did you mean {}?", near->key) : "");
    }
    const auto value = as_text(node);
    if (!value)
      return fail(EINVAL, "{}: {} takes a string, a whole number or true and false", place, key);
    if (auto right = check_value(*setting, *value); !right)
      return fail(EINVAL, "{}: {}={}: {}", place, key, *value, right.error().text);
    settings.push_back({setting, *value, place});
  }
  return {};
}

// Edits (insert, delete, replace one character) between two words.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

// A haichi.toml that nobody named: its text, or why it is not obeyed; neither if it is not there.
struct Candidate {
  std::optional<ConfigFile> file;
  std::string why;
  bool unreadable = false;
};

Candidate come_across(const std::string& place, uid_t owner) {
  const size_t slash = place.rfind('/');
  struct stat folder = {}, entry = {};
  if (lstat(place.c_str(), &entry) != 0 || access(place.c_str(), F_OK) != 0) return {};
  if (stat(slash == place.npos ? "." : place.substr(0, slash).c_str(), &folder) != 0)
    return {{}, strerror(errno)};
  if (entry.st_uid != owner) return {{}, "it belongs to another user"};
  std::string why;
  auto text = read_file(place, kMostFileBytes, 0, [&](const struct stat& file) -> Status {
    why = distrusted(folder, entry, file, owner);
    if (why.empty()) return {};
    return fail(EPERM, "{}", why);
  });
  if (!why.empty()) return {{}, why};
  if (!text) return {{}, text.error().text, true};
  return {ConfigFile{place, std::move(*text)}, ""};
}

}  // namespace

Result<FoundConfig> find_config(const Environment& environment, const std::string& site) {
  FoundConfig found;
  const auto given = environment.get("HAICHI_CONFIG");
  if (given && given->empty()) return found;
  Candidate of_site = come_across(site, 0);
  if (!of_site.why.empty())
    found.ignored.push_back(fmt::format("{} is ignored: {}", site, of_site.why));
  found.site = std::move(of_site.file);
  if (given) {
    auto text = read_file(std::string(*given));
    if (!text) return fail(EINVAL, "{}", text.error().text);
    found.file = ConfigFile{std::string(*given), std::move(*text)};
    return found;
  }
  std::vector<std::string> places = {"haichi.toml"};
  const std::string home(environment.get_or("HOME", ""));
  const std::string standard = home.empty() ? "" : home + "/.config";
  const std::string directory(environment.get_or("XDG_CONFIG_HOME", standard));
  if (!directory.empty()) places.push_back(directory + "/haichi/haichi.toml");
  for (const std::string& place : places) {
    Candidate candidate = come_across(place, geteuid());
    if (candidate.unreadable) return fail(EINVAL, "{}", candidate.why);
    if (!candidate.why.empty())
      found.ignored.push_back(
          fmt::format("{} is ignored: {}; HAICHI_CONFIG={} takes it all the same", place,
                      candidate.why, place));
    if (!candidate.file) continue;
    found.file = std::move(candidate.file);
    break;
  }
  return found;
}

Result<std::vector<FileSetting>> parse_config(std::string_view text, const std::string& name) {
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    std::string why(parsed.error().description());
    std::replace(why.begin(), why.end(), '\n', ' ');
    return fail(EINVAL, "{}:{}: not TOML: {}", name, parsed.error().source().begin.line, why);
  }
  std::vector<FileSetting> settings;
  if (auto done = collect(parsed.table(), "", name, settings); !done)
    return tl::unexpected(done.error());
  return settings;
}

const Setting* setting_by_variable(std::string_view variable) {
  for (const Setting& row : kSettings)
    if (row.variable == variable) return &row;
  return nullptr;
}

const Setting* setting_near(std::string_view word) {
  constexpr std::string_view kPrefix = "HAICHI_";
  const size_t letters = word.size() - (word.starts_with(kPrefix) ? kPrefix.size() : 0);
  // Two slips in a long name; anything else would guess a short name from another one.
  size_t least = std::min<size_t>(3, letters / 3 + 1);
  const Setting* best = nullptr;
  for (const Setting& row : kSettings) {
    const size_t edits = std::min(distance(word, row.key), distance(word, row.variable));
    if (edits < least) {
      least = edits;
      best = &row;
    }
  }
  return best;
}

}  // namespace haichi::launch
