// What a fuzz target offers: libFuzzer's entry, and inputs to begin with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

using Input = std::vector<uint8_t>;

/// Aborts where something is wrong. Any input is allowed.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// Sound ones, from which others are made.
std::vector<Input> seeds();
