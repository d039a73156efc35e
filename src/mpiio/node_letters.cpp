#include "mpiio/node_letters.h"

#include <errno.h>

#include <cstdint>
#include <cstring>

namespace haichi::mpiio {
namespace {

// Before each access.
struct Head {
  int32_t index;  // of the rank within its node
  int32_t bytes;  // that follow; 0: the access is large
};

}  // namespace

NodeLetters::NodeLetters(std::span<const Announcement> of_node)
    : of_node_(of_node), accesses_(of_node.size()) {
  for (size_t i = 0; i < of_node.size(); ++i)
    if (auto access =
            Access::decode(std::span(of_node[i].encoded, size_t(of_node[i].encoded_size))))
      accesses_[i] = std::move(*access);
}

bool NodeLetters::touches(size_t index, const plan::Extent& domain) const {
  if (!meets(of_node_[index].hull(), domain)) return false;
  const Access& access = accesses_[index];
  return access.empty() || access.position_of(domain.begin) < access.position_of(domain.end);
}

std::vector<std::byte> NodeLetters::to(const plan::Extent& domain) const {
  std::vector<std::byte> letter;
  for (size_t i = 0; i < of_node_.size(); ++i) {
    if (!touches(i, domain)) continue;
    const Announcement& a = of_node_[i];
    const Head head{int32_t(i), int32_t(a.encoded_size)};
    const auto* const raw = reinterpret_cast<const std::byte*>(&head);
    letter.insert(letter.end(), raw, raw + sizeof head);
    letter.insert(letter.end(), a.encoded, a.encoded + a.encoded_size);
  }
  return letter;
}

Result<std::vector<LetterEntry>> read_letter(const placement::Placement& placement, int node,
                                             std::span<const std::byte> letter) {
  const auto ranks = placement.ranks_on(node);
  const auto damaged = [] { return fail(EBADMSG, "damaged letter from another node"); };
  std::vector<LetterEntry> entries;
  int last = -1;
  while (!letter.empty()) {
    Head head;
    if (letter.size() < sizeof head) return damaged();
    memcpy(&head, letter.data(), sizeof head);
    letter = letter.subspan(sizeof head);
    if (head.index <= last || size_t(head.index) >= ranks.size() || head.bytes < 0 ||
        size_t(head.bytes) > letter.size())
      return damaged();
    last = head.index;
    LetterEntry entry{ranks[size_t(head.index)], head.bytes == 0, {}};
    if (!entry.large) {
      auto access = Access::decode(letter.first(size_t(head.bytes)));
      if (!access) return tl::unexpected(access.error());
      entry.access = std::move(*access);
    }
    letter = letter.subspan(size_t(head.bytes));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace haichi::mpiio
