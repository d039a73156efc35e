// Reads a short text from left to right, and says where it stopped making sense.
#pragma once

#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>

#include "base/result.h"

namespace haichi::placement {

/// What the readers of rank lists and PMI mappings share. Positions count characters from 1.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  /// The next character, or 0 at the end.
  char next() const { return at_end() ? '\0' : text_[at_]; }
  /// Position of the next character.
  size_t position() const { return at_ + 1; }

  void skip_blanks() {
    while (!at_end() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  /// Steps over `word` if it comes next.
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  /// A number without sign, at most `largest`; `what` names it in the error.
  Result<int> number(std::string_view what, int largest) {
    const char* const begin = text_.data() + at_;
    int value = 0;
    // from_chars takes a minus sign, which no number here may have.
    if (next() < '0' || next() > '9') return unexpected(what);
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value > largest)
      return fail(EINVAL, "{} at character {} is larger than {}", what, position(), largest);
    at_ += size_t(end - begin);
    return value;
  }

  /// The error that `wanted` does not come next.
  tl::unexpected<Error> unexpected(std::string_view wanted) const {
    if (at_end()) return fail(EINVAL, "it ends where {} should follow", wanted);
    const unsigned char c = static_cast<unsigned char>(text_[at_]);
    if (c < 0x20 || c >= 0x7f)
      return fail(EINVAL, "character {} is byte 0x{:02x}, not {}", position(), c, wanted);
    return fail(EINVAL, "character {} is '{}', not {}", position(), char(c), wanted);
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace haichi::placement
