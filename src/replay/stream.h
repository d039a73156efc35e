// The part of a sequence that a choice of its events makes, walked by its loops and never call by
// call: how many there are, whether those of several ranks agree, and up to where.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/sequence.h"

namespace haichi::replay {

/// How often each event happens; saturates.
std::vector<uint64_t> occurrences(const record::Sequence& sequence);
/// The same, but of events that make persistent requests how often those are started.
std::vector<uint64_t> deliveries(const record::Sequence& sequence);
/// Of each event whether a request that it made was cancelled.
std::vector<bool> cancelled_calls(const record::Sequence& sequence);

/// The program of the chosen events alone (`chosen[event]`), without loops in which there are none.
std::vector<record::Item> only(const record::Sequence& sequence, const std::vector<bool>& chosen);

/// Calls of one rank as numbers: `token_of[event]`, 0 for those that do not count.
struct Stream {
  const std::vector<record::Item>* program;
  std::vector<uint64_t> token_of;
};

/// How many calls the streams have in common from their beginning. 2^64 of them are taken for equal
/// by their hashes.
uint64_t common_prefix(std::span<const Stream> streams);
/// How many calls there are; saturates.
uint64_t count(const Stream& stream);

}  // namespace haichi::replay
