// Errors as values: what every function of haichi that can fail returns.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace haichi {

/// Why something failed: `code` is an errno value (EINVAL for bad input), `text` says what was
/// wrong, where, and what to do, in one lower-case line.
struct Error {
  int code;
  std::string text;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

/// Builds the error side of a Result: `return fail(EINVAL, "unknown order {}", name);`
template <class... Args>
tl::unexpected<Error> fail(int code, fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(text, std::forward<Args>(args)...)});
}

}  // namespace haichi
