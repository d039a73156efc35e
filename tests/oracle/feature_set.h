// What a random case may contain. Each can be left out by name: to find the cause of a failure, and
// to hold the model against an MPI library that is known to be wrong in one of them.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oracle {

enum class Feature {
  pair_memory,
  pair_view,
  f90_memory,
  f90_view,
  negative,
  permuted,
  resized_memory,
  resized_view,
  lower_view,
  shifted_view,
  one_tile,
  array_memory,
  array_view,
  nested_memory,
  nested_view,
  zero_length,
  long_double,
  overlap_memory,
  idle,
  empty_view,
  etype,
  eof,
  overlap,
  bottom,
  far,
  hints,
  seek_end,
  independent,
  split,
  nonblocking,
  shared,
  reread,
  subcomm,
  single,
  count_ = single + 1
};
inline constexpr size_t kFeatures = size_t(Feature::count_);

struct FeatureRow {
  const char* name;
  const char* what;
};
const std::vector<FeatureRow>& feature_table();

/// A set of features; all of them unless some are left out.
class Features {
 public:
  Features() { set_.set(); }
  bool has(Feature feature) const { return set_[size_t(feature)]; }
  /// Leaves out those of a list such as "eof,overlap"; returns the first unknown name.
  std::optional<std::string> leave_out(std::string_view list);
  /// Leaves out all but those of a list.
  std::optional<std::string> keep_only(std::string_view list);

 private:
  static std::optional<std::string> parse(std::string_view list, std::bitset<kFeatures>& named);
  std::bitset<kFeatures> set_;
};

}  // namespace oracle
