#include "record/traffic.h"

namespace haichi::record {

void Traffic::add(int peer, Way way, int64_t bytes) {
  if (!usable_) usable_ = memory_.make_usable(kSentAt, kSentSlots * sizeof(Sent));
  Sent* const sent = memory_.at<Sent>(kSentAt);
  const uint32_t one_sided = way == Way::one_sided;
  uint32_t slot = (uint32_t(peer) * 2 + one_sided) * 0x9e3779b9u % kSentSlots;
  if (usable_)
    for (; sent[slot].messages != 0; slot = (slot + 1) % kSentSlots)
      if (sent[slot].peer == peer && sent[slot].one_sided == one_sided) break;
  const bool is_new = usable_ && sent[slot].messages == 0;
  if (!usable_ || (is_new && head_.sent >= kSentSlots / 4 * 3)) {
    head_.traffic_full = 1;
    return;
  }
  if (is_new) {
    ++head_.sent;
    sent[slot].peer = peer;
    sent[slot].one_sided = one_sided;
  }
  ++sent[slot].messages;
  sent[slot].bytes += bytes;
}

}  // namespace haichi::record
