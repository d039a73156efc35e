// The calls of a rank to the fake MPI library: counted, and refused where the job says so.
#pragma once

#include <cstdint>
#include <string>

#include "fake_mpi/memory.h"

namespace haichi::test {

/// From here on calls are counted; the `failing`th fails, or none if that is negative.
void watch_calls(int64_t failing);
void stop_watching_calls();
int64_t watched_calls();

/// One call of a function of the library: made first in it. Ends the process if the job was
/// aborted.
class LibraryCall {
 public:
  /// `polls`: the function is called again and again until something is complete, so that only the
  /// first of such calls in a row counts.
  explicit LibraryCall(const char* function, bool polls = false);
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
  /// The job wants it to fail.
  bool fails() const { return fails_; }

 private:
  const MemoryOfLibrary memory_;
  bool fails_ = false;
};

/// What the functions that make handles keep count of.
enum class Handle : uint8_t { request, communicator, datatype, operation, count };
void made(Handle handle, int by);

/// Handles that this rank has made and not freed: "2 requests, 1 communicators", or empty.
std::string handles_left();

}  // namespace haichi::test
