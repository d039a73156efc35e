// haichi read-placement FILE RANKS: a placement in any notation, as haichi.placement/1. What
// `haichi predict --placement` starts.
#include <cstdio>

#include "base/number_text.h"
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
  if (arguments.size() != 2) return refuse(kUsage, "read-placement: give a file and its ranks");
  const auto ranks = whole_number(arguments[1]);
  if (!ranks || *ranks < 1)
    return refuse(kUsage, fmt::format("read-placement: {} is no number of ranks", arguments[1]));
  const auto found = placement_of(arguments[0], *ranks);
  if (!found) return refuse(kConfig, found.error().text);
  const std::string text = placement::to_json(*found);
  return fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

}  // namespace haichi::offline
