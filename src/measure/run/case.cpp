#include "measure/run/case.h"

#include "measure/run/cold.h"
#include "measure/run/watch.h"

#include <stdlib.h>
#include <string.h>

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

char* Case::memory(int64_t size) {
  constexpr size_t kPage = 4096;
  const size_t whole = (size_t(size) / kPage + 1) * kPage;
  void* const made = aligned_alloc(kPage, whole);
  if (made == nullptr) throw CallFailed("no memory for " + std::to_string(size) + " bytes");
  memset(made, 1, whole);
  kept_.push_back(std::shared_ptr<void>(made, free));
  memory_.emplace_back(static_cast<const char*>(made), size_t(size));
  return static_cast<char*>(made);
}

void Case::cool() const {
  for (const auto& [begin, size] : memory_) take_out_of_caches(begin, size);
}

}  // namespace haichi::measure
