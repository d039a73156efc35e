#include "replay/run/must.h"

#include <string>

namespace haichi::replay {

void throw_call_failed(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw CallFailed(std::string(text, size_t(length)));
}

}  // namespace haichi::replay
