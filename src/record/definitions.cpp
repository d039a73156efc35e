#include "record/definitions.h"

#include <cstring>

#include "base/json_text.h"

namespace haichi::record {

bool Definitions::append(std::string_view line) {
  const size_t end = head_.text_bytes + line.size() + 1;
  if (end > kMostText || !memory_.make_usable(kTextAt, end)) return false;
  char* const at = memory_.at<char>(kTextAt + head_.text_bytes);
  memcpy(at, line.data(), line.size());
  at[line.size()] = '\n';
  head_.text_bytes = uint32_t(end);  // last: what is counted is whole
  return true;
}

void Definitions::add_function(uint16_t number, std::string_view name) {
  if (number >= kMostFunctions || functions_[number]) return;
  functions_[number] =
      append(fmt::format(R"({{"kind":"function","id":{},"name":"{}"}})", number, name));
}

uint16_t Definitions::number(Numbers& numbers, const std::string& what, bool is_communicator) {
  const auto known = numbers.find(what);
  if (known != numbers.end()) return known->second;
  constexpr size_t kMost = 8192;
  const auto next = uint16_t(numbers.size());
  const char* const kind = is_communicator ? "communicator" : "file";
  if (next >= kMost || !append(fmt::format(R"({{"kind":"{}","id":{},{}}})", kind, next, what)))
    return Key::kNone;
  numbers.emplace(what, next);
  return next;
}

void Definitions::add_object(const CodeObject& object) {
  uint64_t& begin = objects_[object.path];
  if (begin == object.begin) return;
  begin = object.begin;
  append(fmt::format(R"({{"kind":"object","begin":{},"end":{},"bias":{},"path":{}}})", object.begin,
                     object.end, object.bias, quoted(object.path)));
}

}  // namespace haichi::record
