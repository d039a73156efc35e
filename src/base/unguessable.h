// Names that nobody can know beforehand.
#pragma once

#include <cstdint>

namespace haichi {

/// A number that nobody can guess, for names. Where the kernel has none yet, one that is unlikely
/// to come again: such files are made with O_EXCL.
uint64_t unguessable_number();

}  // namespace haichi
