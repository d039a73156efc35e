// What this process has read from storage and given to it, by whatever means, as the kernel counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace haichi {

/// Bytes since the process began, by all its threads (proc(5), /proc/pid/io). Files of all kinds
/// count, mapped ones too; sockets, pipes and file systems in memory do not, nor what was read from
/// the page cache. What is written counts in whole pages, when the page cache takes it.
struct ProcessIo {
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
};

/// Nothing if the kernel does not tell.
std::optional<ProcessIo> process_io();
/// What the text of /proc/pid/io says.
std::optional<ProcessIo> parse_process_io(std::string_view text);

}  // namespace haichi
