#include "record/sequence_layout.h"

#include "record/fold_stack.h"

namespace haichi::record {
namespace {

constexpr size_t kShareOfLog = 32, kShareOfEvents = 4;  // of all memory
// What an event may take, its place in the table and some slots that it completes included.
constexpr size_t kSlotsOfCompletes = 4;
constexpr size_t kBytesOfEvent =
    sizeof(StoredEvent) + 2 * sizeof(uint32_t) + kSlotsOfCompletes * sizeof(int);

size_t aligned(size_t offset) { return (offset + 63) / 64 * 64; }

}  // namespace

SequenceLayout::SequenceLayout(size_t most) : most_bytes(most) {
  const size_t of_log = most / kShareOfLog, of_events = most / kShareOfEvents;
  logged = uint32_t(of_log / sizeof(LoggedEvent));
  events = uint32_t(of_events / kBytesOfEvent);
  completes = uint32_t(events * kSlotsOfCompletes);
  items =
      uint32_t((most - of_log - of_events) / (FoldStack::kBytesOfItem + 2 * sizeof(CopiedItem)));
  log_at = aligned(sizeof(SequenceHead));
  events_at = aligned(log_at + logged * sizeof(LoggedEvent));
  completes_at = aligned(events_at + events * sizeof(StoredEvent));
  copy_at[0] = aligned(completes_at + completes * sizeof(int));
  copy_at[1] = aligned(copy_at[0] + items * sizeof(CopiedItem));
  bytes = copy_at[1] + items * sizeof(CopiedItem);
}

}  // namespace haichi::record
