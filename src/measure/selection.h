// Which measurements the user's words mean.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/measurement.h"

namespace haichi::measure {

/// A measurement that was chosen.
struct Chosen {
  const Measurement* measurement;
  bool by_name;                     ///< by its own name rather than with its group
  std::vector<int64_t> sizes = {};  ///< in place of the measurement's own; empty for these
};

/// Those named by `words`: a group, a name, or an MPI function that is measured; all without words.
/// In the order of the catalogue, each once. EINVAL for a word that means nothing.
Result<std::vector<Chosen>> select(std::span<const Measurement> catalogue,
                                   std::span<const std::string> words);

/// The groups in the order of the catalogue.
std::vector<std::string> groups_of(std::span<const Measurement> catalogue);

}  // namespace haichi::measure
