// haichi read-placement FILE RANKS: a placement in any notation, as haichi.placement/1. What
// `haichi predict --placement` starts.
#include <charconv>
#include <cstdio>

#include "base/os.h"
#include "offline/commands.h"
#include "placement/formats.h"

namespace haichi::offline {

Result<placement::Placement> placement_of(const std::string& file, int ranks) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  auto found = placement::parse(*text, ranks);
  if (!found) return fail(found.error().code, "{}: {}", file, found.error().text);
  return found;
}

int read_placement_command(const Arguments& arguments) {
  int ranks = 0;
  if (arguments.size() != 2) return refuse(kUsage, "read-placement: give a file and its ranks");
  const std::string& number = arguments[1];
  const char* const end = number.data() + number.size();
  if (std::from_chars(number.data(), end, ranks).ptr != end || ranks < 1)
    return refuse(kUsage, fmt::format("read-placement: {} is no number of ranks", number));
  const auto found = placement_of(arguments[0], ranks);
  if (!found) return refuse(kConfig, found.error().text);
  const std::string text = placement::to_json(*found);
  return fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

}  // namespace haichi::offline
