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
  gaps,
  single
};

struct FeatureRow {
  const char* name;
  const char* what;
};
const std::vector<FeatureRow>& feature_table();
inline const std::vector<FeatureRow>& table_of(Feature) { return feature_table(); }

/// The bits of the features that a list such as "eof,overlap" names, added to `named`; returns the
/// first unknown name.
std::optional<std::string> parse_features(const std::vector<FeatureRow>& table,
                                          std::string_view list, std::bitset<64>& named);

/// A set of the features of an enumeration with a table_of(); all of them unless some are left out.
template <class Enum>
class FeatureSet {
 public:
  FeatureSet() { set_.set(); }
  bool has(Enum feature) const { return set_[size_t(feature)]; }
  /// Leaves out those of a list such as "eof,overlap"; returns the first unknown name.
  std::optional<std::string> leave_out(std::string_view list) {
    std::bitset<64> named;
    auto unknown = parse_features(table_of(Enum{}), list, named);
    set_ &= ~named;
    return unknown;
  }
  /// Leaves out all but those of a list.
  std::optional<std::string> keep_only(std::string_view list) {
    std::bitset<64> named;
    auto unknown = parse_features(table_of(Enum{}), list, named);
    set_ &= named;
    return unknown;
  }

 private:
  std::bitset<64> set_;
};
using Features = FeatureSet<Feature>;

}  // namespace oracle
