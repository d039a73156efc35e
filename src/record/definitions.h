// What the numbers in keys stand for: functions, communicators, files, and the objects that return
// addresses lie in. Each is a line of JSON in the part, so that it is there if the process is
// killed.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "record/key.h"
#include "record/memory.h"
#include "record/part.h"

namespace haichi::record {

/// A file of code in this process. An address in it, less `bias`, is one of the file.
struct CodeObject {
  uint64_t begin, end, bias;
  std::string path;
};

/// Bounded; what has no room has no number (Key::kNone). Not thread-safe.
class Definitions {
 public:
  /// Both outlive it.
  Definitions(Memory& memory, Head& head) : memory_(memory), head_(head) {}

  /// Line of the record itself, from the first rank's part.
  void add_line(std::string_view line) { append(line); }
  /// Functions have numbers already.
  void add_function(uint16_t number, std::string_view name);
  /// `what`: members of the JSON object that the record has for it, but for "kind" and "id". The
  /// same text has the same number.
  uint16_t communicator(const std::string& what) { return number(communicators_, what, true); }
  uint16_t file(const std::string& what) { return number(files_, what, false); }
  void add_object(const CodeObject& object);

 private:
  using Numbers = std::map<std::string, uint16_t>;
  static constexpr size_t kMostFunctions = 1024;

  uint16_t number(Numbers& numbers, const std::string& what, bool is_communicator);
  bool append(std::string_view line);

  Memory& memory_;
  Head& head_;
  std::bitset<kMostFunctions> functions_;
  Numbers communicators_, files_;
  std::map<std::string, uint64_t> objects_;  // path -> begin
};

}  // namespace haichi::record
