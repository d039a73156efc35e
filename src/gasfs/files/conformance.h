// What every NodeFiles must do, as tests: the header of a test program's one source, which gives it
// what it makes its files by:
//
//     INSTANTIATE_TEST_SUITE_P(Memory, NodeFilesConformance, testing::Values(&make_memory_files));
//
// Included by tests only.
#pragma once

#include "gasfs/files/conformance_bytes.h"
#include "gasfs/files/conformance_names.h"
