// The sequence that a killed process has left in its part.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "record/sequence.h"

namespace haichi::record {

/// `bytes` of the part from the sequence's head on, `names[call]` of the functions. Nothing if none
/// was kept, or if it cannot be what was kept.
std::optional<Sequence> kept_sequence(std::span<const std::byte> bytes,
                                      std::span<const std::string> names);

}  // namespace haichi::record
