// The value of LD_PRELOAD that puts a shim under a program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/environment.h"
#include "launch/mpi_library.h"

namespace haichi::launch {

/// The shim for `abi` of the haichi whose programs lie in `bin`: bin/../lib/libhaichi-<abi>.so.
/// Fails with ELIBACC if it was not built, and with EINVAL if LD_PRELOAD can't express its path.
Result<std::string> find_shim(Abi abi, const std::string& bin);
/// The same, of the recorder: libhaichi-record-<abi>.so.
Result<std::string> find_recorder(Abi abi, const std::string& bin);
/// The same, of what stands in front of functions of the C library: libhaichi-posix.so.
Result<std::string> find_posix(const std::string& bin);
/// Whether a shim or recorder is of the same build as this program (cmake/BuildMark.cmake).
bool is_of_this_build(const std::string& object);

/// `before` (what LD_PRELOAD was) without shims and recorders of haichi: a program started by
/// `haichi run` inside a script that `haichi run` started has exactly one.
std::string without_shims(std::string_view before);

/// LD_PRELOAD with `shims` before what was there, so that haichi sees the program's calls first and
/// calls on into the other tools. Sanitizer runtimes stay in front: they refuse any other place.
std::string with_shims(std::string_view before, const std::vector<std::string>& shims);

}  // namespace haichi::launch
