// Numbers in words of the user.
#pragma once

#include <stdlib.h>

#include <optional>
#include <string>

namespace haichi {

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
