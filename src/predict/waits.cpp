#include "predict/waits.h"

#include <algorithm>

namespace haichi::predict {

using sim::Time;

void Waits::resolve(Strand& strand) {
  strand.phase = strand.after;
  if (strand.waits.empty()) return;
  if (strand.waits.size() > 1)
    std::sort(strand.waits.begin(), strand.waits.end(), [&](int32_t a, int32_t b) {
      const Time first = traffic_.request(a).at, second = traffic_.request(b).at;
      return first != second ? first < second : a < b;
    });
  Time clock = strand.clock;
  int32_t last = -1;
  for (const int32_t each : strand.waits) {
    const Request& request = traffic_.request(each);
    if (request.at > clock) {
      clock = request.at;
      last = each;
    }
    clock += request.work;
  }
  if (last >= 0)
    follow(strand, traffic_.request(last), clock);
  else if (follows_)
    strand.path.add(keys_.key(strand.function, place_of(strand.waits.back())),
                    {clock - strand.clock, 0, 0});
  strand.clock = clock;
  for (const int32_t each : strand.waits) traffic_.release(each);
  strand.waits.clear();
}

int Waits::place_of(int32_t request) const {
  const int32_t message = traffic_.request(request).message;
  return message < 0 ? PathKeys::kNoPlace : int(traffic_.message(message).way);
}

// The strand goes on at `clock` because of that request.
void Waits::follow(Strand& strand, const Request& request, Time clock) {
  if (request.message < 0) return follow_call(strand, request, clock);
  const Message& message = traffic_.message(request.message);
  const bool receives = request.side == Request::Side::receives;
  const bool by_other = message.by_sender() == receives && !message.one_sided;
  if (by_other && strand.schedule == nullptr) {  // a collective call has its own late ranks
    const Time late = std::clamp<Time>(message.began() - strand.clock, 0, clock - strand.clock);
    strand.waiting += late;
    const int other = receives ? message.source : message.target;
    books_.ranks[size_t(other)].caused += late;
  }
  if (!follows_) return;
  const int32_t kept = receives ? message.sender_path : message.receiver_path;
  const size_t key = keys_.key(strand.function, int(message.way));
  Time since = strand.clock;
  if (by_other && kept >= 0) {
    strand.path = paths_.at(kept);
    since = message.began();
  }
  strand.path.add(key, {clock - since, 1, message.bytes});
}

// Because a nonblocking collective call is over.
void Waits::follow_call(Strand& strand, const Request& request, Time clock) {
  if (!follows_) return;
  if (request.path >= 0) strand.path = paths_.at(request.path);
  const Time since = request.path >= 0 ? request.at : strand.clock;
  strand.path.add(keys_.key(strand.function, PathKeys::kNoPlace), {clock - since, 0, 0});
}

}  // namespace haichi::predict
