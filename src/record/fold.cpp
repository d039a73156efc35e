#include "record/fold.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "record/event_table.h"
#include "record/fold_stack.h"
#include "record/sequence_keeper.h"

namespace haichi::record {
namespace {

// Of so many places each has its own times. Of more, those of like events and times share theirs:
// what an irregular program takes in a file is then a number a call.
constexpr uint32_t kMostPlaces = 4096;
constexpr double kOctaveParts = 4;

double seconds(int64_t ns, uint64_t count) { return double(ns) * 1e-9 / double(count); }

int part_of_octave(double s) {
  return s < 1e-9 ? 0 : int(std::floor(std::log2(s * 1e9) * kOctaveParts)) + 1;
}

uint32_t places_in(const FoldStack& stack, uint32_t number) {
  const auto& item = stack.item(number);
  if (!item.is_loop()) return 1;
  uint32_t sum = 0;
  for (uint32_t each = item.loop.first; each != FoldStack::kNone; each = stack.item(each).next)
    sum += places_in(stack, each);
  return sum;
}

// Makes a Sequence of a stack.
class Maker {
 public:
  Maker(const EventTable& table, const FoldStack& stack, std::span<const std::string> names)
      : table_(table), stack_(stack), names_(names) {}

  Sequence make() {
    uint32_t places = 0;
    for (uint32_t i = 0; i < stack_.size(); ++i) places += places_in(stack_, stack_.at(i));
    shares_ = places > kMostPlaces;
    for (uint32_t i = 0; i < stack_.size(); ++i) sequence_.program.push_back(item(stack_.at(i), 1));
    for (size_t i = 0; i < totals_.size(); ++i) {
      Event& event = sequence_.events[i];
      event.compute_s = seconds(totals_[i].place.compute_ns, totals_[i].count);
      event.took_s = seconds(totals_[i].place.took_ns, totals_[i].count);
      event.compute_most_s = seconds(totals_[i].place.most_ns, 1);
    }
    return std::move(sequence_);
  }

 private:
  struct Total {
    FoldStack::Place place;
    uint64_t count;
  };

  Item item(uint32_t number, uint64_t count) {
    const auto& it = stack_.item(number);
    Item made;
    if (!it.is_loop()) {
      made.event = event(it.event, it.place, count);
      return made;
    }
    made.times = it.loop.times;
    for (uint32_t each = it.loop.first; each != FoldStack::kNone; each = stack_.item(each).next)
      made.body.push_back(item(each, count * made.times));
    return made;
  }

  int event(uint32_t number, const FoldStack::Place& place, uint64_t count) {
    if (!shares_) return add(number, place, count);
    const std::tuple like{number, part_of_octave(seconds(place.compute_ns, count)),
                          part_of_octave(seconds(place.took_ns, count))};
    const auto [found, is_new] = like_.try_emplace(like, int(totals_.size()));
    if (is_new) return add(number, place, count);
    Total& total = totals_[size_t(found->second)];
    total.place.compute_ns += place.compute_ns;
    total.place.took_ns += place.took_ns;
    total.place.most_ns = std::max(total.place.most_ns, place.most_ns);
    total.count += count;
    return found->second;
  }

  int add(uint32_t number, const FoldStack::Place& place, uint64_t count) {
    const EventKey key = table_.key(int(number));
    Event event;
    event.call = names_[size_t(key.call)];
    event.bytes = key.bytes;
    event.comm = key.comm;
    event.peer = key.peer;
    event.tag = key.tag;
    event.root = key.root;
    event.request = key.request;
    event.from = key.from;
    event.from_tag = key.from_tag;
    event.file = key.file;
    event.window = key.window;
    event.from_bytes = key.from_bytes;
    event.received = key.received;
    event.completes.assign(key.completes.begin(), key.completes.end());
    sequence_.events.push_back(std::move(event));
    totals_.push_back({place, count});
    return int(totals_.size()) - 1;
  }

  const EventTable& table_;
  const FoldStack& stack_;
  std::span<const std::string> names_;
  bool shares_ = false;
  Sequence sequence_;
  std::vector<Total> totals_;  // of sequence_.events
  std::map<std::tuple<uint32_t, int, int>, int> like_;
};

}  // namespace

struct Folder::State {
  State(std::unique_ptr<Memory> own_memory, Memory& memory, size_t at, const SequenceLayout& layout)
      : own(std::move(own_memory)),
        table(memory, at, layout),
        stack(layout.items),
        keeper(memory, at, layout) {}
  const std::unique_ptr<Memory> own;  // if nobody else has it
  EventTable table;
  FoldStack stack;
  SequenceKeeper keeper;
  uint64_t events = 0;
  bool cut = false;
};

Folder::Folder(size_t most_bytes) {
  const SequenceLayout layout(most_bytes);
  auto own = std::make_unique<Memory>(layout.bytes);
  Memory& memory = *own;
  state_ = std::make_unique<State>(std::move(own), memory, 0, layout);
}

Folder::Folder(Memory& memory, size_t at)
    : state_(std::make_unique<State>(nullptr, memory, at, SequenceLayout(kMostBytes))) {}

Folder::~Folder() = default;
Folder::Folder(Folder&&) noexcept = default;
Folder& Folder::operator=(Folder&&) noexcept = default;

int Folder::event(const EventKey& key) { return state_->table.number(key); }

void Folder::add(int event, int64_t compute_ns, int64_t took_ns) {
  State& state = *state_;
  ++state.events;
  if (state.cut) return;
  state.cut = event < 0 || !state.stack.add(uint32_t(event), compute_ns, took_ns);
  if (state.cut)
    state.keeper.cut();
  else
    state.keeper.added(state.stack, uint32_t(event), compute_ns, took_ns);
}

bool Folder::restore(const CopiedItem& item) {
  if (item.event != FoldStack::kNone)
    return state_->stack.put(
        item.event,
        {int64_t(item.place.compute_ns), int64_t(item.place.took_ns), int64_t(item.place.most_ns)});
  const uint64_t times = uint64_t{item.loop.times_high} << 32 | item.loop.times_low;
  return times > 1 && state_->stack.put_loop(item.loop.length, times);
}

bool Folder::cut() const { return state_->cut; }
size_t Folder::bytes() const { return state_->table.bytes() + state_->stack.bytes(); }
uint64_t Folder::events() const { return state_->events; }

Sequence Folder::sequence(std::span<const std::string> names) const {
  Sequence made = Maker(state_->table, state_->stack, names).make();
  made.cut = state_->cut;
  return made;
}

}  // namespace haichi::record
