#include "patterns/parameters.h"

#include <gtest/gtest.h>

#include "patterns/pattern.h"

namespace haichi::patterns {
namespace {

TEST(Parameters, EveryWordIsTakenAndGivenBack) {
  for (const Parameter& each : parameters()) {
    Parameters values;
    const std::vector<std::string> words = words_of(each);
    if (words.size() < 2) continue;
    for (const std::string& word : words) {
      ASSERT_TRUE(each.assign(values, each, word)) << each.name;
      EXPECT_EQ(std::get<std::string>(each.value(values, each)), word) << each.name;
    }
    EXPECT_FALSE(each.assign(values, each, "no such word")) << each.name;
  }
}

TEST(Parameters, WordsAreThoseOfPlanAndSettings) {
  Parameters values;
  for (const auto& word : words_of(*find_parameter("order"))) {
    ASSERT_TRUE(find_parameter("order")->assign(values, *find_parameter("order"), word));
    EXPECT_EQ(plan::name_of(values.order), word);
  }
  for (const auto& word : words_of(*find_parameter("layout"))) {
    ASSERT_TRUE(find_parameter("layout")->assign(values, *find_parameter("layout"), word));
    EXPECT_EQ(plan::name_of(values.layout), word);
  }
}

TEST(Parameters, NumbersAndSizes) {
  Parameters values;
  const Parameter& bytes = *find_parameter("bytes");
  ASSERT_TRUE(bytes.assign(values, bytes, "16k"));
  EXPECT_EQ(std::get<int64_t>(bytes.value(values, bytes)), 16384);
  EXPECT_FALSE(bytes.assign(values, bytes, "-1"));
  const Parameter& count = *find_parameter("region-count");
  for (const char* wrong : {"0", "-3", "1.5", "x", "", "99999999999999999999"})
    EXPECT_FALSE(count.assign(values, count, wrong)) << wrong;
  EXPECT_EQ(values.region_count, 48000);
}

TEST(Patterns, HaveParametersThatAreThere) {
  for (const Pattern& pattern : patterns()) {
    for (const std::string_view name : pattern.parameters)
      EXPECT_NE(find_parameter(name), nullptr) << pattern.name << ": " << name;
    for (size_t i = 0; i < pattern.alternatives; ++i)
      EXPECT_GT(words_of(*find_parameter(pattern.parameters[i])).size(), 1u);
  }
}

}  // namespace
}  // namespace haichi::patterns
