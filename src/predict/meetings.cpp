#include "predict/meetings.h"

namespace haichi::predict {

Meetings::Meetings(std::span<const Communicator> communicators,
                   const placement::Placement& placement) {
  for (const Communicator& each : communicators) {
    by_id_[each.id] = members_.size();
    Members& made = members_.emplace_back();
    made.id = each.id;
    made.ranks = each.members;
    made.placement = placement.subset(each.members);
    made.calls.resize(each.members.size());
    for (size_t place = 0; place < each.members.size(); ++place)
      made.place[each.members[place]] = int(place);
  }
}

std::optional<size_t> Meetings::find(int id, int rank) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end() || !members_[found->second].place.contains(rank)) return std::nullopt;
  return found->second;
}

std::pair<uint64_t, Meeting*> Meetings::come(size_t comm, int rank, int function, int64_t bytes,
                                             bool is_root, sim::Time at) {
  Members& members = members_[comm];
  const uint64_t number = members.calls[size_t(members.place[rank])]++;
  Meeting& meeting = meetings_[key(comm, number)];
  if (meeting.come++ == 0) {
    meeting.function = function;
    meeting.first = rank;
    meeting.bytes = bytes;
  }
  if (at >= meeting.last) {
    meeting.last = at;
    meeting.last_rank = rank;
  }
  if (is_root) meeting.root = at;
  return {number, &meeting};
}

void Meetings::leave(size_t comm, uint64_t number) {
  const auto at = meetings_.find(key(comm, number));
  if (at != meetings_.end() && ++at->second.left == int(members_[comm].ranks.size()))
    meetings_.erase(at);
}

}  // namespace haichi::predict
