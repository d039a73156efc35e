#include "record/kept_sequence.h"

#include <algorithm>
#include <vector>

#include "record/event_table.h"
#include "record/fold.h"
#include "record/fold_stack.h"
#include "record/key.h"
#include "record/sequence_layout.h"

namespace haichi::record {
namespace {

constexpr int kDeepest = 64;  // a loop runs twice at least, and nobody makes 2^64 calls

bool is_time(float ns) { return ns >= 0 && ns < 9e18f; }

/// All is looked at before it is believed, as the file may have been written by anybody.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const SequenceHead& head,
         std::span<const std::string> names)
      : bytes_(bytes),
        head_(head),
        layout_(head.most_bytes),
        folder_(head.most_bytes),
        names_(names.begin(), names.end()) {}

  std::optional<Sequence> read() {
    if (!add_events() || !add_copy() || !add_log()) return std::nullopt;
    Sequence sequence = folder_.sequence(names_);
    sequence.cut = sequence.cut || head_.cut != 0;
    return sequence;
  }

 private:
  /// Null if not all of them lie in the file.
  template <class T>
  const T* at(size_t offset, size_t first, size_t count = 1) const {
    const size_t begin = offset + first * sizeof(T);
    return begin + count * sizeof(T) <= bytes_.size()
               ? reinterpret_cast<const T*>(bytes_.data() + begin)
               : nullptr;
  }

  bool add_events() {
    if (head_.events > layout_.events) return false;
    for (uint32_t i = 0; i < head_.events; ++i) {
      const auto* const event = at<StoredEvent>(layout_.events_at, i);
      if (event == nullptr || !add_event(*event, int(i))) return false;
    }
    return true;
  }

  bool add_event(const StoredEvent& event, int number) {
    const int call = event.numbers.call;
    if (call < 0 || call >= Key::kMixed || event.completes > layout_.completes) return false;
    const int* const slots = at<int>(layout_.completes_at, event.completes_at, event.completes);
    if (slots == nullptr) return false;
    if (size_t(call) >= names_.size()) names_.resize(size_t(call) + 1);
    std::string& name = names_[size_t(call)];
    if (name.empty()) name = "unknown";
    return folder_.event(key_of(event, slots)) == number;
  }

  bool add_copy() {
    const uint32_t generation = head_.generation % 2, items = head_.items[generation];
    std::vector<int> depths;  // of the loops in what lies on the stack
    for (uint32_t i = 0; i < items; ++i) {
      const auto* const item = at<CopiedItem>(layout_.copy_at[generation], i);
      if (item == nullptr || !add_item(*item, depths)) return false;
    }
    return true;
  }

  bool add_item(const CopiedItem& item, std::vector<int>& depths) {
    if (item.event != FoldStack::kNone) {
      const auto& place = item.place;
      depths.push_back(0);
      return item.event < head_.events && is_time(place.compute_ns) && is_time(place.took_ns) &&
             is_time(place.most_ns) && folder_.restore(item);
    }
    const size_t length = item.loop.length;
    if (length == 0 || length > depths.size()) return false;
    const auto body = depths.end() - std::ptrdiff_t(length);
    const int depth = 1 + *std::max_element(body, depths.end());
    depths.erase(body, depths.end());
    depths.push_back(depth);
    return depth <= kDeepest && folder_.restore(item);
  }

  bool add_log() {
    for (uint32_t i = 0; i < layout_.logged; ++i) {
      const auto* const logged = at<LoggedEvent>(layout_.log_at, i);
      if (logged == nullptr || logged->generation != head_.generation) break;
      if (logged->event >= head_.events || !is_time(logged->compute_ns) ||
          !is_time(logged->took_ns))
        return false;
      folder_.add(int(logged->event), int64_t(logged->compute_ns), int64_t(logged->took_ns));
    }
    return true;
  }

  const std::span<const std::byte> bytes_;
  const SequenceHead& head_;
  const SequenceLayout layout_;
  Folder folder_;
  std::vector<std::string> names_;
};

}  // namespace

std::optional<Sequence> kept_sequence(std::span<const std::byte> bytes,
                                      std::span<const std::string> names) {
  if (bytes.size() < sizeof(SequenceHead)) return std::nullopt;
  const auto& head = *reinterpret_cast<const SequenceHead*>(bytes.data());
  if (head.most_bytes == 0 || head.most_bytes > Folder::kMostBytes) return std::nullopt;
  return Reader(bytes, head, names).read();
}

}  // namespace haichi::record
