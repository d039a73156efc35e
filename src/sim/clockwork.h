// The time of a simulated run, and which part of the machine acts next.
//
// Actors are the ranks, the network's links, two queues of what needs no link, and the storage. Of
// those whose events are at the same time the first in this order acts first.
//
// PURE.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/agenda.h"
#include "sim/time.h"

namespace haichi::sim {

class Clockwork {
 public:
  Clockwork(size_t ranks, size_t links)
      : links_(uint32_t(ranks)), words_(uint32_t(ranks + links)), events_(ranks + links + 3) {}

  /// When the event is that is being handled.
  Time now() const { return now_; }
  bool over() const { return events_.empty(); }
  /// Goes on to the next event: returns whose it is. Whoever acts sets or removes its own.
  uint32_t next() {
    now_ = events_.time();
    return events_.actor();
  }

  /// Who acts behind another at the same time, or kNobody if none is near.
  static constexpr uint32_t kNobody = ActorSet::kNone;
  uint32_t due_behind(uint32_t actor) const { return events_.soon_behind(actor); }

  uint32_t link(int link) const { return links_ + uint32_t(link); }
  uint32_t words() const { return words_; }
  uint32_t local() const { return words_ + 1; }
  uint32_t storage() const { return words_ + 2; }
  bool is_rank(uint32_t actor) const { return actor < links_; }
  int link_of(uint32_t actor) const { return int(actor - links_); }

  void set(uint32_t actor, Time time) { events_.set(actor, time); }
  void remove(uint32_t actor) { events_.remove(actor); }

 private:
  const uint32_t links_, words_;
  Agenda events_;
  Time now_ = 0;
};

}  // namespace haichi::sim
