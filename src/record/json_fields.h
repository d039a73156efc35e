// Members of a JSON object that must have a kind and a range. The first that has not is remembered,
// so that a reader asks for all it wants and then looks once whether that went well.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace haichi::record {

/// Reads members of `object`; those that are absent or null have their default. Both must outlive
/// it.
class Fields {
 public:
  static constexpr int64_t kMostWhole = int64_t{1} << 62;

  /// `where` comes first in the error: "events[3]."; empty for the line's own members.
  Fields(const nlohmann::json& object, std::string where, Status& status);

  bool has(const char* key) const;
  int64_t whole(const char* key, int64_t otherwise, int64_t least = 0, int64_t most = kMostWhole);
  int small(const char* key, int otherwise, int least = 0, int most = kMostInt);
  double number(const char* key, double otherwise = 0);
  bool flag(const char* key, bool otherwise = false);
  std::string text(const char* key);
  std::vector<int> smalls(const char* key, int least = 0, int most = kMostInt);
  std::vector<uint64_t> wholes(const char* key);
  std::vector<std::string> texts(const char* key);
  std::vector<bool> flags(const char* key);
  /// Ranks below `ranks`: "0-3,8", in any order.
  std::vector<int> rank_list(const char* key, int ranks);
  /// The member as it is, or null.
  const nlohmann::json& raw(const char* key) const;

  /// That the member must be there.
  Fields& needs(const char* key);
  /// Remembers that the member takes something else.
  void wrong(const char* key, const std::string& takes);

 private:
  static constexpr int kMostInt = std::numeric_limits<int>::max();
  template <class T, class Convert>
  std::vector<T> list(const char* key, const std::string& takes, Convert convert);

  const nlohmann::json& object_;
  std::string where_;
  Status& status_;
};

}  // namespace haichi::record
