// Which way collective accesses of a file go, by trial: what the ranks of a group have tried in all
// accesses to all of their files. Every rank has one, and tells it the same.
//
// The way that a cost model chooses is number 0 and is taken first. The others have their turns
// when the accesses so far pay for it (trial_budget.h), as algorithms of an all-to-all have
// (selection.h). What counts is the time of the slowest rank. The ranks tell one another what an
// access took when they agree about the next one, so that nothing more has to be agreed upon.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectives/decisions.h"
#include "collectives/selection.h"

namespace haichi::collectives {

/// Accesses that one way is chosen for: the same direction, and shapes that cost about the same.
struct WayKey {
  bool writing = true;
  bool apart = false;  ///< the ranks' parts do not interleave
  uint64_t hints = 0;  ///< stands for what else decides what an access costs
  int size_bin = 0;    ///< log2 of the bytes of the rank that has most
  int pieces_bin = 0;  ///< log2 of the pieces of the file that all ranks have
  int ranks_bin = 0;   ///< log2 of the ranks that have bytes
  auto operator<=>(const WayKey&) const = default;
  /// All but the size: "file write, 1024 pieces that interleave, 16 ranks".
  std::string text() const;
};

/// A way that an access may go.
struct WayCandidate {
  int way = 0;          ///< the caller's number of it
  double expected = 0;  ///< seconds, as a model says; only ratios count
};

/// Accesses of one key.
struct TunedWay {
  std::vector<int> ways;
  Selection selection;
  std::string_view why;
  /// What why_next() said last, when trials had chosen `said_of`; said again until there are
  /// `said_until` calls, as its numbers hardly change.
  std::string said = {};
  int said_of = -1;
  int64_t said_until = 0;
};

class WayTuner {
 public:
  /// Names of the ways, for decisions and the report.
  WayTuner(std::vector<std::string> names, SelectionRules rules)
      : names_(std::move(names)), rules_(std::move(rules)) {}

  /// What earlier runs decided: keys that are begun later start with it.
  void start_with(std::vector<Decision> decisions) { earlier_ = std::move(decisions); }
  /// The way of the next access of the key; nothing if begin() has to be called first: the key is
  /// new, or the model's choice is another one than then.
  std::optional<int> next(const WayKey& key, int model) const;
  /// The first candidate is the model's choice. Does nothing where a program makes ever new shapes.
  void begin(const WayKey& key, const std::vector<WayCandidate>& candidates);
  /// An access of the key that went next() took so many seconds on the slowest rank, for
  /// `bytes` bytes of the rank that has most. Times count as if all accesses had the fewest bytes
  /// of the key's bin.
  void took(const WayKey& key, double seconds, int64_t bytes);

  /// True if no trial of the key is under way or saved for.
  bool settled(const WayKey& key) const;
  /// True if anything but the model's choice was tried.
  static bool tried(const TunedWay& tuned);
  /// Why the next access of the key takes what it takes, for the report; empty: it is the model's
  /// choice.
  std::string_view why_next(const WayKey& key);
  const std::map<WayKey, TunedWay>& keys() const { return keys_; }
  const std::string& name(int way) const { return names_[size_t(way)]; }
  /// What the trials of this run decided, where they have come to an end.
  std::vector<Decision> decided() const;

 private:
  static constexpr size_t kMostKeys = 256;
  std::vector<std::string> names_;
  SelectionRules rules_;
  std::vector<Decision> earlier_;
  std::map<WayKey, TunedWay> keys_;
};

}  // namespace haichi::collectives
