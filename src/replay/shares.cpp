#include "replay/shares.h"

#include <algorithm>
#include <numeric>

#include "replay/stream.h"

namespace haichi::replay {

using record::Sequence;
using record::Unfolded;

int64_t share(const Sums& sums, int from, int to) {
  const auto& received = sums.received;
  const int64_t all = std::accumulate(received.begin(), received.end(), int64_t{0});
  const auto sent = sums.sent[size_t(from)];
  if (all == 0) return sent / int64_t(sums.sent.size());
  return int64_t(__extension__ static_cast<__int128>(sent) * received[size_t(to)] / all);
}

struct VaryingCalls::Member {
  Member(const Sequence& all, Sequence chosen)
      : whole(all), calls(std::move(chosen)), unfolded(calls) {}
  const Sequence& whole;
  const Sequence calls;  // its program alone; its events are those of `whole`
  Unfolded unfolded;
};

VaryingCalls::VaryingCalls(const record::Record& record, const record::Communicator& comm) {
  for (const int rank : comm.members) {
    static const Sequence nothing;
    const auto& its = record.sequences[size_t(rank)];
    const Sequence& sequence = its ? *its : nothing;
    std::vector<bool> chosen;
    for (const auto& event : sequence.events) {
      const Function function = function_of(event.call);
      chosen.push_back(event.comm == comm.id && function.form != Form::persistent &&
                       is_varying(function.collective));
    }
    members_.push_back(
        std::make_unique<Member>(sequence, Sequence{{}, only(sequence, chosen), false}));
  }
}

VaryingCalls::~VaryingCalls() = default;
VaryingCalls::VaryingCalls(VaryingCalls&&) noexcept = default;

const Sums& VaryingCalls::next() {
  sums_.sent.clear();
  sums_.received.clear();
  for (const auto& member : members_) {
    const auto event = member->unfolded.next();
    sums_.sent.push_back(event ? std::max<int64_t>(member->whole.events[size_t(*event)].bytes, 0)
                               : 0);
    sums_.received.push_back(
        event ? std::max<int64_t>(member->whole.events[size_t(*event)].received, 0) : 0);
  }
  return sums_;
}

}  // namespace haichi::replay
