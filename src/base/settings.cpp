#include "base/settings.h"

#include <errno.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace haichi {
namespace {

using Kind = Setting::Kind;

bool among(std::string_view word, std::string_view choices) {
  while (!choices.empty()) {
    const size_t bar = choices.find('|');
    if (choices.substr(0, bar) == word) return true;
    if (bar == choices.npos) break;
    choices.remove_prefix(bar + 1);
  }
  return false;
}

Result<int64_t> parse_flag(std::string_view text) {
  for (std::string_view yes : {"1", "yes", "on", "true"})
    if (text == yes) return 1;
  for (std::string_view no : {"0", "no", "off", "false", ""})
    if (text == no) return 0;
  return fail(EINVAL, "use 0 or 1");
}

Result<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return fail(EINVAL, "use a whole number, 0 or more");
  return value;
}

Result<int64_t> parse_value(const Setting& setting, std::string_view text) {
  switch (setting.kind) {
    case Kind::flag:
      return parse_flag(text);
    case Kind::integer:
      return parse_integer(text);
    case Kind::bytes: {
      auto size = parse_bytes(text);
      if (size && *size == 0) return fail(EINVAL, "use a size of at least one byte");
      return size;
    }
    case Kind::bytes_or_none:
      return parse_bytes(text);
    case Kind::choice:
      if (!among(text, setting.choices)) return fail(EINVAL, "use one of {}", setting.choices);
      return 0;
    case Kind::path:
    case Kind::text:
      return 0;
  }
  return 0;
}

}  // namespace

Status check_value(const Setting& setting, std::string_view value) {
  auto number = parse_value(setting, value);
  if (!number) return tl::unexpected(number.error());
  return {};
}

Result<int64_t> parse_bytes(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, size_t(text.data() + text.size() - end));
  if (error != std::errc() || value < 0) return fail(EINVAL, "use a size such as 16M");
  std::string lower(unit);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  constexpr std::string_view kUnits = "kmgt";
  int shift = 0;
  if (!lower.empty() && lower != "b") {
    const size_t at = kUnits.find(lower[0]);
    const std::string_view rest = std::string_view(lower).substr(1);
    if (at == kUnits.npos || (!rest.empty() && rest != "b" && rest != "ib"))
      return fail(EINVAL, "unknown unit {}; use k, M, G or T, powers of 1024", unit);
    shift = 10 * (int(at) + 1);
  }
  if (value > (INT64_MAX >> shift)) return fail(EINVAL, "too large");
  return value << shift;
}

Settings Settings::from_environment(const char* const* environment) {
  Settings settings;
  settings.values_ = std::make_shared<Values>(std::size(kSettings));
  for (const Setting& row : kSettings) (void)settings.set(row.key, row.fallback, "default");
  for (; environment && *environment; ++environment) {
    const std::string_view entry(*environment);
    if (!entry.starts_with("HAICHI_")) continue;
    const size_t equals = entry.find('=');
    if (equals == entry.npos) continue;
    const std::string_view name = entry.substr(0, equals), value = entry.substr(equals + 1);
    const auto row = std::find_if(std::begin(kSettings), std::end(kSettings),
                                  [&](const Setting& s) { return s.variable == name; });
    if (row == std::end(kSettings)) {
      settings.problems_.push_back(
          fmt::format("unknown setting {}; `haichi config` lists them all", name));
      continue;
    }
    if (auto done = settings.set(row->key, value, "environment"); !done)
      settings.problems_.push_back(done.error().text);
  }
  return settings;
}

Status Settings::set(std::string_view key, std::string_view value, std::string_view source) {
  const Setting* const found = find_setting(key);
  if (found == nullptr) return fail(EINVAL, "unknown setting {}", key);
  const Setting& setting = *found;
  const auto row = size_t(found - std::begin(kSettings));
  auto number = parse_value(setting, value);
  if (!number)
    return fail(EINVAL, "{}={}: {}; {} stays", source == "hint" ? setting.hint : setting.variable,
                value, number.error().text, (*values_)[row].text);
  if (values_.use_count() > 1) values_ = std::make_shared<Values>(*values_);
  (*values_)[row] = Value{std::string(value), *number, source};
  return {};
}

bool is_disabled() {
  const char* const value = getenv("HAICHI_DISABLE");
  if (value == nullptr) return false;
  const std::string entry = std::string("HAICHI_DISABLE=") + value;
  const char* const only[] = {entry.c_str(), nullptr};
  return Settings::from_environment(only).flag("disable");
}

}  // namespace haichi
