// haichi.record/1 of the parts of all ranks (docs/guide/formats.md).
//
// Each rank's numbers are its own; the file has numbers that all ranks share. So a part is written
// in two steps: what it needs numbers for is told to whoever gives them, which writes a line for
// what is new, and then come the part's own lines. Rank 0 does this rank after rank, in memory that
// does not grow with the ranks but for what they do not have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "record/part.h"
#include "record/sequence.h"

namespace haichi::record {

/// Takes the next lines of a file; false if it can't, and nothing more is worth while.
using Sink = std::function<bool(std::string_view lines)>;

/// Members of the JSON objects, but for kind and id; or numbers for them, in the same order.
template <class T>
struct Defined {
  std::vector<T> communicators, files, sites;
};
using Wanted = Defined<std::string>;
using Numbers = Defined<int32_t>;

/// What the numbers in a part stand for, read from its text.
class PartText {
 public:
  explicit PartText(const PartView& part);

  const Wanted& wanted() const { return wanted_; }
  /// The line of the record as a whole; empty but in the part of the first rank.
  const std::string& record_line() const { return record_line_; }
  int64_t calls() const { return part_.head->calls; }
  /// Names by numbers, as far as any call was counted; empty where there is none.
  const std::vector<std::string>& functions() const { return functions_; }
  /// What the part has, with numbers for wanted(). `sequence`, if there is one, is of the part's
  /// own numbers. False if the sink has refused.
  bool write(const Numbers& numbers, const Sink& sink, Sequence* sequence = nullptr) const;

 private:
  struct CodeRange {
    uint64_t begin, end, bias;
    std::string path;
  };

  void read_line(std::string_view line);
  void find_sites();
  std::string site_at(uint64_t address) const;
  std::string rank_line() const;
  std::string call_line(const Entry& entry, const Numbers& numbers) const;
  std::string traffic_line(uint32_t one_sided) const;

  const PartView part_;
  Wanted wanted_;
  std::string record_line_;
  std::vector<std::string> functions_;
  std::vector<CodeRange> objects_;
  std::unordered_map<uint64_t, int32_t> site_of_address_;  // index in wanted_.sites
};

/// Gives the numbers that all ranks share.
class SharedNumbers {
 public:
  /// Writes a line for each thing that nobody has wanted yet. False if the sink has refused.
  bool give(const Wanted& wanted, Numbers& numbers, const Sink& sink);

 private:
  using Known = std::unordered_map<std::string, int32_t>;
  static bool give_kind(const char* kind, const std::vector<std::string>& wanted, Known& known,
                        std::vector<int32_t>& numbers, const Sink& sink);

  Known communicators_, files_, sites_;
};

/// Wanted as a text, and back.
std::string to_text(const Wanted& wanted);
Wanted from_text(std::string_view text);

/// The last line.
std::string end_line(int ranks, int64_t calls);

}  // namespace haichi::record
