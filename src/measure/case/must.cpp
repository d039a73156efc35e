#include "measure/case/must.h"

#include "measure/case/watch.h"

namespace haichi::measure {

void call_failed(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  // MPI libraries write several lines; the first one says it.
  std::string line(text, size_t(length));
  line.resize(line.find_first_of("\r\n") == std::string::npos ? line.size()
                                                              : line.find_first_of("\r\n"));
  std::string* const problem = NotedFailures::noted_in;
  if (problem == nullptr) throw CallFailed(line);
  if (!problem->empty()) return;
  *problem = line;
  tell_in_watch(line);
}

}  // namespace haichi::measure
