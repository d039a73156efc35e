#include "replay/run/must.h"

#include <string>
#include <string_view>

namespace haichi::replay {

void throw_call_failed(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  // MPICH says more, in further lines.
  const std::string_view all(text, size_t(length));
  throw CallFailed(std::string(all.substr(0, all.find('\n'))));
}

}  // namespace haichi::replay
