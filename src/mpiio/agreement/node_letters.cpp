#include "mpiio/agreement/node_letters.h"

#include <errno.h>

#include <cstdint>
#include <cstring>
#include <optional>

namespace haichi::mpiio {
namespace {

// Before the access of the first one of some ranks in a row.
struct Head {
  int32_t index;     // of that rank within its node
  int32_t count;     // of the ranks
  int64_t distance;  // in the file, from each of them to the next
  int64_t bytes;     // that follow; 0: the access is large
};

}  // namespace

/// Ranks in a row.
struct NodeLetters::Run {
  size_t first;
  size_t count = 1;
  int64_t distance = 0;
};

NodeLetters::NodeLetters(std::span<const Announcement> of_node)
    : of_node_(of_node), accesses_(of_node.size()) {
  PatternPool pool;
  for (size_t i = 0; i < of_node.size(); ++i)
    if (auto access =
            Access::decode(std::span(of_node[i].encoded, size_t(of_node[i].encoded_size)), pool))
      accesses_[i] = std::move(*access);
}

bool NodeLetters::touches(size_t index, const plan::Extent& domain) const {
  if (!meets(of_node_[index].hull(), domain)) return false;
  const Access& access = accesses_[index];
  return access.empty() || access.position_of(domain.begin) < access.position_of(domain.end);
}

bool NodeLetters::goes_on(const Run& run, size_t index) const {
  if (index != run.first + run.count || of_node_[index].encoded_size == 0) return false;
  const auto distance = accesses_[index - 1].distance_to(accesses_[index]);
  return distance && (run.count == 1 || *distance == run.distance);
}

void NodeLetters::write(const Run& run, std::vector<std::byte>& letter) const {
  const Announcement& a = of_node_[run.first];
  const Head head{int32_t(run.first), int32_t(run.count), run.distance, a.encoded_size};
  const auto* const raw = reinterpret_cast<const std::byte*>(&head);
  letter.insert(letter.end(), raw, raw + sizeof head);
  letter.insert(letter.end(), a.encoded, a.encoded + a.encoded_size);
}

std::vector<std::byte> NodeLetters::to(const plan::Extent& domain) const {
  std::vector<std::byte> letter;
  std::optional<Run> run;
  for (size_t i = 0; i < of_node_.size(); ++i) {
    if (!touches(i, domain)) continue;
    if (run && goes_on(*run, i)) {
      run->distance = *accesses_[i - 1].distance_to(accesses_[i]);
      ++run->count;
      continue;
    }
    if (run) write(*run, letter);
    run = Run{i};
  }
  if (run) write(*run, letter);
  return letter;
}

Result<std::vector<LetterEntry>> read_letter(const placement::Placement& placement, int node,
                                             std::span<const std::byte> letter, PatternPool& pool) {
  const auto ranks = placement.ranks_on(node);
  const auto damaged = [] { return fail(EBADMSG, "damaged letter from another node"); };
  std::vector<LetterEntry> entries;
  int64_t next = 0;
  while (!letter.empty()) {
    Head head;
    if (letter.size() < sizeof head) return damaged();
    memcpy(&head, letter.data(), sizeof head);
    letter = letter.subspan(sizeof head);
    if (head.index < next || head.count < 1 ||
        int64_t{head.index} + head.count > int64_t(ranks.size()) || head.bytes < 0 ||
        uint64_t(head.bytes) > letter.size() || (head.bytes == 0 && head.count > 1))
      return damaged();
    next = int64_t{head.index} + head.count;
    Access access;
    if (head.bytes > 0) {
      auto described = Access::decode(letter.first(size_t(head.bytes)), pool);
      if (!described) return tl::unexpected(described.error());
      access = std::move(*described);
    }
    for (int32_t i = 0; i < head.count; ++i)
      entries.push_back(
          {ranks[size_t(head.index + i)], head.bytes == 0, access.shifted(i * head.distance)});
    letter = letter.subspan(size_t(head.bytes));
  }
  return entries;
}

}  // namespace haichi::mpiio
