// The commands of haichi-offline, for `haichi` that hands them over and for the program itself.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

/// Calls EACH(name, function) for every one; the functions are those of offline/commands.h.
#define HAICHI_OFFLINE_COMMANDS(EACH)                \
  EACH("simulate", simulate_command)                 \
  EACH("predict-sequence", predict_sequence_command) \
  EACH("read-placement", read_placement_command)     \
  EACH("write-goal", write_goal_command)             \
  EACH("read-goal", read_goal_command)               \
  EACH("merge-logs", merge_logs_command)             \
  EACH("merge-records", merge_records_command)       \
  EACH("map", map_command)

namespace haichi::launch {

#define HAICHI_NAME(name, function) std::string_view(name),
inline constexpr std::array kOfflineNames = {HAICHI_OFFLINE_COMMANDS(HAICHI_NAME)};
#undef HAICHI_NAME

constexpr bool is_offline(std::string_view command) {
  return std::find(kOfflineNames.begin(), kOfflineNames.end(), command) != kOfflineNames.end();
}

}  // namespace haichi::launch
