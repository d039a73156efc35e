// Order and window of two-phase exchanges by trial: what a group of ranks has tried in all accesses
// to all of its files. Every rank has one, and tells it the same.
//
// An access is one trial of a pair of order and window (plan/order_window.h), as a call of an
// all-to-all is one of an algorithm (selection.h; paper 004, section 3.2). The pair that the
// settings name is number 0. Nothing has to be agreed upon: what an access took is the time of its
// slowest rank, which all ranks know when it ends.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "collectives/decisions.h"
#include "collectives/selection.h"
#include "collectives/size_bin.h"
#include "plan/order_window.h"

namespace haichi::collectives {

/// Accesses that one pair is chosen for: what decides how messages meet on the network.
struct ExchangeKey {
  bool writing = true;
  int size_bin = 0;     ///< log2 of the bytes that a rank accesses, in the mean
  int message_bin = 0;  ///< log2 of the bytes of a message, in the mean
  int aggregators = 1;
  bool streams = false;  ///< one message for all ranks of a node
  auto operator<=>(const ExchangeKey&) const = default;
  /// All but the size: "two-phase write, 4 aggregators, messages from 4096 bytes".
  std::string text() const;
};

/// Accesses of one key.
struct TunedExchange {
  std::vector<plan::OrderWindow> pairs;
  Selection selection;
  bool warm = false;   ///< it had an access that did not count: the first makes connections
  double seconds = 0;  ///< in the accesses that counted
  std::string_view why;
  plan::OrderWindow next() const { return pairs[size_t(selection.next())]; }
};

class ExchangeTuner {
 public:
  explicit ExchangeTuner(SelectionRules rules) : rules_(std::move(rules)) {}

  /// What earlier runs decided: keys that are begun later start with it.
  void start_with(std::vector<Decision> decisions);
  /// Never 0. Tuners with the same number will choose alike: it stands for all that they were told.
  uint64_t told() const { return told_; }

  /// The pairs of a key, or null if it was not begun.
  const TunedExchange* find(const ExchangeKey& key) const;
  /// Begins a key with pairs_to_try(), at least one.
  const TunedExchange& begin(const ExchangeKey& key, std::vector<plan::OrderWindow> pairs);
  /// An access of a key that was begun took next() and so many seconds on the slowest rank, for
  /// `bytes` bytes a rank, in the mean. Times count as if all accesses had the fewest bytes of the
  /// key's bin.
  void took(const ExchangeKey& key, double seconds, int64_t bytes);

  /// Why the next access of the key takes what it takes, for the report.
  std::string why_next(const ExchangeKey& key) const;
  const std::map<ExchangeKey, TunedExchange>& keys() const { return keys_; }
  /// What the trials of this run decided, where they have come to an end.
  std::vector<Decision> decided() const;

 private:
  void mix(uint64_t word);

  SelectionRules rules_;
  std::vector<Decision> earlier_;
  std::map<ExchangeKey, TunedExchange> keys_;
  uint64_t told_ = 0xcbf29ce484222325;  // FNV-1a
};

}  // namespace haichi::collectives
