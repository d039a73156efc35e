// Numbers in words of the user.
#pragma once

#include <stdlib.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace haichi {

/// The whole number, of an integer type, that is all of `text`; nothing if it does not fit.
template <class Number = int>
std::optional<Number> whole_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The decimal number that is all of `text`. Not by std::from_chars: of a double it needs libm,
/// which `haichi run` would then load on every rank.
inline std::optional<double> real_number(const std::string& text) {
  if (text.find_first_of("-.0123456789") != 0) return std::nullopt;
  char* end = nullptr;
  const double value = strtod(text.c_str(), &end);
  if (*end != '\0') return std::nullopt;
  return value;
}

}  // namespace haichi
