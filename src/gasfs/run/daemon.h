// What the daemons have in common: how they end, and how others learn that they have begun.
#pragma once

#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace haichi::gasfs::run {

/// From here on this process ends when it is asked to (SIGTERM, SIGINT, SIGHUP) or `seconds` have
/// passed (0: never): the descriptor can be read then. Before any thread is started.
Result<Descriptor> end_descriptor(unsigned seconds);

/// Writes who has begun, and where it is, as JSON; of a dispatcher, also where other nodes ask it.
Status announce(const std::string& path, const std::string& address, const std::string& node = "");

/// Puts beside it how it ended, and gives the exit code; its error is printed too.
int tell_end(const std::string& path, const Status& how);

/// Prints an error and gives the exit code.
int refuse(int code, const std::string& text);

}  // namespace haichi::gasfs::run
