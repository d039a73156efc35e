// What several launches found, side by side: the median of each is one sample of the experiment.
#pragma once

#include <string>

namespace haichi::measure {

/// A table for people of the text of a samples file: for each point the median of the launches'
/// medians, the least and the largest of them.
std::string table_across_launches(const std::string& samples);

}  // namespace haichi::measure
