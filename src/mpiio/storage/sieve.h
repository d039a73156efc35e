// Many small pieces of a file on one rank alone: through windows that hold the bytes between them
// too (data sieving: Thakur, Gropp and Lusk, "Data Sieving and Collective I/O in ROMIO").
//
// Writing like this fills holes, so it needs leave: see "Who may fill holes" in docs/notes.md.
#pragma once

#include "mpiio/storage/own_part.h"

namespace haichi::mpiio {

/// About how many bytes of the file sieving would read for an access: from a few samples.
int64_t sieved_bytes(const Access& access);

/// Whether the pieces of an access are better written through windows than each by itself.
bool worth_filling(const Access& access);

/// Reads all pieces, with `bounce` as the window. Bytes that are not there after all are given as
/// zeros. The first failure is returned; later windows are still tried.
Status read_by_sieving(const OwnPart& part);

/// Writes all pieces, with `bounce` as the window: each window as write_window() does. The first
/// failure is returned; later windows are still tried.
Status write_by_sieving(const OwnPart& part);

}  // namespace haichi::mpiio
