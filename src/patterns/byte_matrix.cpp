#include "patterns/byte_matrix.h"

#include <errno.h>

#include <algorithm>
#include <utility>

#include "base/number_text.h"

namespace haichi::patterns {
namespace {

constexpr std::string_view kBetween = " \t\r,;";

// Takes the next number off `line`; nothing is left of the line at its end.
Result<int64_t> next_number(std::string_view& line, int number) {
  const std::string_view word = line.substr(0, line.find_first_of(kBetween));
  const auto bytes = whole_number<int64_t>(word);
  if (!bytes || *bytes < 0) return fail(EINVAL, "line {}: {} is no number of bytes", number, word);
  line.remove_prefix(word.size());
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(kBetween)));
  return *bytes;
}

}  // namespace

Result<ByteMatrix> ByteMatrix::parse(std::string_view text, int ranks) {
  ByteMatrix matrix;
  matrix.ranks_ = size_t(ranks);
  size_t lines = 0;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find('#'));
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(kBetween)));
    if (line.empty()) continue;
    const size_t before = matrix.bytes_.size();
    while (!line.empty()) {
      const auto bytes = next_number(line, number);
      if (!bytes) return tl::unexpected(bytes.error());
      matrix.bytes_.push_back(*bytes);
    }
    if (const size_t got = matrix.bytes_.size() - before; got != matrix.ranks_)
      return fail(EINVAL, "line {}: {} numbers for {} ranks", number, got, ranks);
    ++lines;
  }
  if (lines != matrix.ranks_) return fail(EINVAL, "{} lines for {} ranks", lines, ranks);
  return matrix;
}

}  // namespace haichi::patterns
