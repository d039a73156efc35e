#include "measure/measurement.h"

#include <fmt/format.h>

namespace haichi::measure {

std::string Measurement::formula() const {
  return parts == 1 ? "sample" : fmt::format("sample / {}", parts);
}

const char* text_of(Who who) { return who == Who::pair ? "pair" : "all"; }

const char* text_of(Start start) {
  if (start == Start::window) return "window";
  return start == Start::barrier ? "barrier" : "back to back";
}

const char* text_of(Over over) { return over == Over::slowest ? "slowest rank" : "first rank"; }

}  // namespace haichi::measure
