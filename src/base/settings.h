// Every setting of haichi: one table gives the environment variable, the key of haichi.toml, the
// listing of `haichi config` and the man page haichi-environment(7).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace haichi {

/// One row of the table. A setting's environment variable is `variable`; its key in haichi.toml is
/// `key`; `hint` is the MPI_Info hint that overrides it for one file, or empty.
struct Setting {
  enum class Kind { flag, choice, integer, bytes, bytes_or_none, path, text };
  std::string_view key;
  std::string_view variable;
  std::string_view hint;
  Kind kind;
  std::string_view fallback;  ///< default value, in the notation a user would write
  std::string_view choices;   ///< for Kind::choice: the allowed words, separated by |
  std::string_view help;      ///< one sentence, with the unit
};

/// The table, sorted by key.
std::span<const Setting> settings_table();

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

  bool flag(std::string_view key) const;
  int64_t number(std::string_view key) const;  ///< for integer and bytes
  const std::string& text(std::string_view key) const;
  /// "default", "environment" or "hint".
  std::string_view source(std::string_view key) const;

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
  using Values = std::vector<Value>;  // parallel to settings_table()
  /// Every file has settings of its own, mostly those of the job: copies share them until one
  /// differs.
  std::shared_ptr<Values> values_;
  std::vector<std::string> problems_;
};

/// Parses `64`, `16k`, `16KiB`, `2M`, `1g` (powers of 1024). Fails on anything else.
Result<int64_t> parse_bytes(std::string_view text);

}  // namespace haichi
