// The end of a wait: when a strand goes on, whom it waited for last, and what that does to its
// critical path.
//
// PURE.
#pragma once

#include "predict/books.h"
#include "predict/path.h"
#include "predict/strand.h"
#include "predict/traffic.h"

namespace haichi::predict {

/// All that it is given must outlive it.
class Waits {
 public:
  Waits(Traffic& traffic, Books& books, PathKeys& keys, const PathPool& paths, bool follows)
      : traffic_(traffic), books_(books), keys_(keys), paths_(paths), follows_(follows) {}

  /// All requests of strand.waits are complete: sets the strand's clock, path and next phase, and
  /// releases them.
  void resolve(Strand& strand);

 private:
  void follow(Strand& strand, const Request& request, sim::Time clock);
  void follow_call(Strand& strand, const Request& request, sim::Time clock);
  int place_of(int32_t request) const;

  Traffic& traffic_;
  Books& books_;
  PathKeys& keys_;
  const PathPool& paths_;
  bool follows_;
};

}  // namespace haichi::predict
