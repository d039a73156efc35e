#include "placement/formats.h"
#include "placement/scanner.h"

namespace haichi::placement {

std::string to_rank_list(std::span<const int> ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    fmt::format_to(std::back_inserter(text), "{}", ranks[i]);
    if (last > i) fmt::format_to(std::back_inserter(text), "-{}", ranks[last]);
    i = last + 1;
  }
  return text;
}

Result<std::vector<int>> from_rank_list(std::string_view text) {
  std::vector<int> ranks;
  if (text.empty()) return ranks;
  Scanner scan(text);
  for (;;) {
    const size_t position = scan.position();
    const auto first = scan.number("a rank", kMaxRanks - 1);
    if (!first) return tl::unexpected(first.error());
    int last = *first;
    if (scan.take("-")) {
      const auto end = scan.number("a rank", kMaxRanks - 1);
      if (!end) return tl::unexpected(end.error());
      last = *end;
    }
    if (last < *first)
      return fail(EINVAL, "{}-{} at character {} runs backwards; write {}-{}", *first, last,
                  position, last, *first);
    if (!ranks.empty() && *first <= ranks.back())
      return fail(EINVAL, "{} at character {} follows {}; write the ranks in ascending order",
                  *first, position, ranks.back());
    for (int rank = *first; rank <= last; ++rank) ranks.push_back(rank);
    if (scan.at_end()) return ranks;
    if (!scan.take(",")) return scan.unexpected("',' or '-'");
  }
}

}  // namespace haichi::placement
