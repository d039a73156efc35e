#include "record/sequence_keeper.h"

#include <algorithm>

namespace haichi::record {
namespace {

// So many events are logged at least between two copies, and as many as there were items in the
// last one: then copying costs no more than logging, and what is written stays in the processor's
// caches if the program is regular.
constexpr uint32_t kLeastLogged = 512;

/// Copies items, a loop's body before it, to where they fit.
class Copier {
 public:
  Copier(const FoldStack& stack, CopiedItem* to) : stack_(stack), to_(to) {}

  uint32_t copy_all() {
    for (uint32_t i = 0; i < stack_.size(); ++i) copy(stack_.at(i));
    return size_;
  }

 private:
  void copy(uint32_t number) {
    const FoldStack::Item& item = stack_.item(number);
    CopiedItem copied = {.event = item.event, .loop = {}};
    if (item.is_loop()) {
      for (uint32_t each = item.loop.first; each != FoldStack::kNone; each = stack_.item(each).next)
        copy(each);
      copied.loop = {item.loop.length, uint32_t(item.loop.times), uint32_t(item.loop.times >> 32)};
    } else {
      copied.place = {float(item.place.compute_ns), float(item.place.took_ns),
                      float(item.place.most_ns)};
    }
    to_[size_++] = copied;
  }

  const FoldStack& stack_;
  CopiedItem* const to_;
  uint32_t size_ = 0;
};

}  // namespace

SequenceKeeper::SequenceKeeper(Memory& memory, size_t at, const SequenceLayout& layout)
    : memory_(memory), at_(at), layout_(layout) {
  most_logged_ = std::min(kLeastLogged, layout.logged);
  if (most_logged_ == 0 || !is_in_file(0, layout.log_at + most_logged_ * sizeof(LoggedEvent)))
    return;
  head_ = memory_.at<SequenceHead>(at_);
  head_->generation = 1;
  in_this_order();
  head_->most_bytes = layout.most_bytes;
}

bool SequenceKeeper::is_in_file(size_t offset, size_t bytes) {
  return memory_.make_usable(at_ + offset, bytes) && memory_.in_file();
}

void SequenceKeeper::cut() {
  if (head_ != nullptr) head_->cut = 1;
  head_ = nullptr;
}

void SequenceKeeper::log(const FoldStack& stack, uint32_t event, int64_t compute_ns,
                         int64_t took_ns) {
  if (!memory_.in_file()) return cut();  // the event may lie beside it
  LoggedEvent& logged = memory_.at<LoggedEvent>(at_ + layout_.log_at)[logged_];
  logged.event = event;
  logged.compute_ns = float(compute_ns);
  logged.took_ns = float(took_ns);
  in_this_order();
  logged.generation = head_->generation;
  if (++logged_ == most_logged_ && !copy(stack)) cut();
}

bool SequenceKeeper::copy(const FoldStack& stack) {
  const uint32_t next = head_->generation + 1;
  const size_t place = layout_.copy_at[next % 2];
  if (!is_in_file(place, stack.bytes() / FoldStack::kBytesOfItem * sizeof(CopiedItem)))
    return false;
  const uint32_t items = Copier(stack, memory_.at<CopiedItem>(at_ + place)).copy_all();
  most_logged_ = std::min(std::max(kLeastLogged, items), layout_.logged);
  if (!is_in_file(layout_.log_at, most_logged_ * sizeof(LoggedEvent))) return false;
  head_->items[next % 2] = items;
  in_this_order();
  head_->generation = next;
  logged_ = 0;
  return true;
}

}  // namespace haichi::record
