// A data access as the program called it, and what this rank wants of it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "mpi/files/access_form.h"
#include "mpi/files/file_state.h"
#include "mpi/files/outcome.h"
#include "mpiio/regions/access.h"
#include "mpiio/twophase/two_phase.h"

namespace haichi::mpi {

/// A collective data access as the program called it.
struct CollectiveCall {
  const char* name;
  mpiio::Direction direction;
  std::optional<MPI_Offset> offset;  ///< explicit, in etypes of the view; else individual pointer
  void* memory;
  int64_t count;
  MPI_Datatype type;
  AccessForm form = AccessForm::whole;  ///< of those that ranks agree about
};

/// Of a call as the generated hooks have it.
template <class Call>
CollectiveCall collective_call(const Call& call) {
  constexpr bool reads = std::is_same_v<decltype(Call::buf), void*>;
  std::optional<MPI_Offset> offset;
  if constexpr (requires { call.offset; }) offset = call.offset;
  return {Call::kName, reads ? mpiio::Direction::read : mpiio::Direction::write,
          offset,      const_cast<void*>(call.buf),
          call.count,  call.datatype};
}

/// What this rank wants of the call, or why it cannot be taken.
struct Request {
  std::string refusal;
  mpiio::Access access;
  mpiio::PatternPtr memory = mpiio::Pattern::block(0);
  int64_t etype_size = 1;  ///< the view's
  int64_t position = 0;    ///< in the view's bytes
  int64_t window = 0;  ///< largest collective buffer that this rank can do with; run_collective's
};

/// Local. `refusal`: why the file's accesses are passed through, or empty. Memory that runs out
/// becomes a refusal too. A refusal is noted for the report.
Request request_of(MPI_File file, FileState& state, const CollectiveCall& call,
                   std::string refusal);

/// Why a rank without a descriptor of its own leaves its part to the library.
inline constexpr std::string_view kNoDescriptor = "this rank cannot open the file itself";

/// Why accesses in this direction are the library's, or empty: modes and data representation, which
/// are the same on all ranks by the rules of MPI, so that nobody has to be asked. Fails if the MPI
/// library does not tell, which may be so on this rank alone.
Result<std::string> mode_refusal(MPI_File file, const FileState& state, mpiio::Direction direction);

/// Moves the individual pointer behind the first `bytes` bytes of the access.
void move_pointer(FileState& state, const Request& request, int64_t bytes);

/// Notes a failure for the report and returns its errno value.
int noted(FileState& state, const Error& error);

/// The first failure among the statuses, noted; 0 if there is none.
int noted(FileState& state, std::initializer_list<const Status*> statuses);

/// The MPI error class of an errno value; 0 is MPI_SUCCESS.
int error_class_of(int code);

}  // namespace haichi::mpi
