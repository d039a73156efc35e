// The values of all settings (settings_table.h), each with where it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/settings_table.h"

namespace haichi {

/// A row of the table by its key, or any of them. A key that the table does not have, and the
/// number of a setting that is a word, do not compile.
class SettingKey {
 public:
  // A number and no pointer: under -fsanitize=undefined GCC 12 compares no pointers when it
  // compiles.
  consteval SettingKey(const char* key) : index_(setting_index(key)) {
    if (index_ == std::size(kSettings)) throw "no setting has this key";
  }
  constexpr SettingKey(const Setting& row) : index_(size_t(&row - std::begin(kSettings))) {}
  constexpr size_t index() const { return index_; }
  constexpr const Setting& row() const { return kSettings[index_]; }

 private:
  size_t index_;
};
class NumberKey : public SettingKey {
 public:
  consteval NumberKey(const char* key) : SettingKey(key) {
    if (!row().counts()) throw "this setting is no number";
  }
  /// Precondition: it counts.
  constexpr explicit NumberKey(const Setting& row) : SettingKey(row) {}
};

/// Whether `setting` takes `value`. The error's text says what is allowed and names no setting, so
/// that the caller can say where the value stood.
Status check_value(const Setting& setting, std::string_view value);

/// Values of all settings, each with where it came from.
class Settings {
 public:
  /// Reads the environment given as `NAME=value` strings (environ's form). Values that do not parse
  /// are left at their default; `problems()` then says what was wrong, and unknown HAICHI_* names
  /// are listed there too.
  static Settings from_environment(const char* const* environment);

  bool flag(NumberKey key) const { return number(key) != 0; }
  int64_t number(NumberKey key) const { return of(key).number; }
  const std::string& text(SettingKey key) const { return of(key).text; }
  /// "default", "environment", "hint" or "file system".
  std::string_view source(SettingKey key) const { return of(key).source; }

  /// Overrides one setting, e.g. from an MPI_Info hint. Nothing changes on failure.
  Status set(std::string_view key, std::string_view value, std::string_view source);

  /// One line per value that was refused: what, where and what is allowed.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Value {
    std::string text;
    int64_t number = 0;
    std::string_view source = "default";
  };
  using Values = std::vector<Value>;  // parallel to kSettings
  const Value& of(SettingKey key) const { return (*values_)[key.index()]; }

  /// Every file has settings of its own, mostly those of the job: copies share them until one
  /// differs.
  std::shared_ptr<Values> values_;
  std::vector<std::string> problems_;
};

/// Whether HAICHI_DISABLE is set, of this process's environment; nothing else of it is looked at.
bool is_disabled();

/// Parses `64`, `16k`, `16KiB`, `2M`, `1g` (powers of 1024). Fails on anything else.
Result<int64_t> parse_bytes(std::string_view text);

}  // namespace haichi
