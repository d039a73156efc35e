#include "record/part.h"

#include <algorithm>
#include <cstring>

namespace haichi::record {
namespace {

/// As many elements as lie at `offset` of the bytes, no more than `most`.
template <class T>
std::span<const T> at(std::span<const std::byte> bytes, size_t offset, size_t most) {
  if (bytes.size() <= offset) return {};
  return {reinterpret_cast<const T*>(bytes.data() + offset),
          std::min(most, (bytes.size() - offset) / sizeof(T))};
}

}  // namespace

bool view_part(std::span<const std::byte> bytes, PartView& view) {
  if (bytes.size() < kTextAt) return false;
  view.head = reinterpret_cast<const Head*>(bytes.data());
  if (memcmp(view.head->magic, Head::kMagic, sizeof Head::kMagic) != 0) return false;
  const auto text = at<char>(bytes, kTextAt, std::min<size_t>(view.head->text_bytes, kMostText));
  view.text = {text.data(), text.size()};
  view.entries = at<Entry>(bytes, kEntriesAt, std::min(view.head->entries, kMostEntries));
  view.sent = at<Sent>(bytes, kSentAt, view.head->sent > 0 ? kSentSlots : 0);
  if (bytes.size() > kSequenceAt) view.sequence = bytes.subspan(kSequenceAt);
  return true;
}

}  // namespace haichi::record
