// Tags and senders of a record as GOAL can have them: without communicators, and known beforehand.
#pragma once

#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "record/record.h"

namespace haichi::goal {

/// A number for each pair of a communicator and a tag; each communicator's collectives have one
/// too.
class Tags {
 public:
  explicit Tags(const record::Record& record);
  int of(int comm, int tag) const { return numbers_.at({comm, tag}); }
  int of_collectives(int comm) const { return numbers_.at({comm, kCollectives}); }

 private:
  static constexpr int kCollectives = -2;
  std::map<std::pair<int, int>, int> numbers_;
};

/// From whom with which tag a rank's receives from any are: of what is sent to it and nobody
/// receives by name, from the senders in turn.
class Senders {
 public:
  Senders(const record::Record& record, int rank);

  struct Sender {
    int rank = -1, tag = 0;  ///< -1: none is left
  };
  /// `from` and `tag` may each be any.
  Sender next(int comm, int from, int tag);

 private:
  struct Left {
    Sender sender;
    uint64_t messages;
  };
  std::map<int, std::deque<Left>> left_;  // of each communicator
};

}  // namespace haichi::goal
