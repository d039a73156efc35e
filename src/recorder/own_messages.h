// Messages among the ranks about the record, at the end of the job.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace haichi::recorder {

/// On a communicator of the recorder's own. Waits without burning the processor that the rank it
/// waits for may need. All is false or empty if the MPI library fails.
class OwnMessages {
 public:
  explicit OwnMessages(MPI_Comm own) : own_(own) {}

  bool send(int to, std::string_view text) const;
  bool receive(int from, std::string& text) const;
  bool send(int to, std::span<const int32_t> numbers) const;
  bool receive(int from, std::span<int32_t> numbers) const;

 private:
  bool send_bytes(int to, const void* data, int64_t size) const;
  bool receive_bytes(int from, void* data, int64_t size) const;

  const MPI_Comm own_;
};

}  // namespace haichi::recorder
