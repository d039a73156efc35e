// The environment that the program will get: a copy of haichi's own, changed and handed to exec.
//
// Everything in this folder takes an Environment instead of calling getenv, so that tests can play
// any launcher.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace haichi::launch {

class Environment {
 public:
  Environment() = default;
  /// Copies the `NAME=value` strings of an environ-like array that ends with a null pointer.
  explicit Environment(const char* const* entries);

  bool has(std::string_view name) const { return get(name).has_value(); }
  /// The value, valid until the next change.
  std::optional<std::string_view> get(std::string_view name) const;
  /// The value, or `fallback` where it is not set or empty.
  std::string_view get_or(std::string_view name, std::string_view fallback) const;

  void set(std::string_view name, std::string_view value);
  void unset(std::string_view name);

  const std::vector<std::string>& entries() const { return entries_; }
  /// For exec: pointers into this object, ending with a null pointer.
  std::vector<char*> pointers();

 private:
  std::vector<std::string> entries_;
};

}  // namespace haichi::launch
