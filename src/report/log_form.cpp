#include "report/log_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace haichi::report {
namespace {

constexpr size_t kSealBytes = std::tuple_size_v<decltype(seal_of(""))>;

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest & 1 ? 0xedb88320u : 0u);
    table[i] = rest;
  }
  return table;
}

uint32_t crc32(std::string_view text) {
  static constexpr auto kTable = crc_table();
  uint32_t crc = 0xffffffffu;
  for (const char c : text) crc = kTable[(crc ^ uint8_t(c)) & 255] ^ (crc >> 8);
  return ~crc;
}

}  // namespace

LogLayout::LogLayout(int ranks, int nodes, int most_of_a_node, int64_t most_bytes) {
  of_rank_0_ = std::max({most_bytes / 8, most_bytes / ranks - nodes * kHeadBytes, kLeastShare});
  const int64_t others = most_bytes - of_rank_0_ - nodes * kHeadBytes;
  of_others_ = ranks > 1 ? others / (ranks - 1) : 0;
  if (of_others_ >= kLeastShare || ranks == 1) return;
  of_others_ = kLeastShare;
  local_ranks_ = int(std::clamp<int64_t>(others / kLeastShare / nodes, 0, most_of_a_node));
}

std::optional<LogPart> LogLayout::part(int node, int local) const {
  if (node == 0 && local == 0) return LogPart{kHeadBytes, of_rank_0_};
  if (local >= local_ranks_) return std::nullopt;
  const int64_t before = node == 0 ? of_rank_0_ + (local - 1) * of_others_ : local * of_others_;
  return LogPart{kHeadBytes + before, of_others_};
}

std::array<char, 9> seal_of(std::string_view text) {
  std::array<char, 9> seal = {};
  seal.back() = ' ';
  uint32_t crc = crc32(text);
  for (size_t digit = 8; digit-- > 0; crc >>= 4) seal[digit] = "0123456789abcdef"[crc & 15];
  return seal;
}

std::string sealed(std::string_view text) {
  const auto seal = seal_of(text);
  return fmt::format("{}{}\n", std::string_view(seal.data(), seal.size()), text);
}

std::optional<std::string_view> opened(std::string_view line) {
  if (line.size() < kSealBytes || line[kSealBytes - 1] != ' ') return std::nullopt;
  uint32_t wanted = 0;
  const char* const digits_end = line.data() + kSealBytes - 1;
  const auto [end, error] = std::from_chars(line.data(), digits_end, wanted, 16);
  line.remove_prefix(kSealBytes);
  if (error != std::errc() || end != digits_end || wanted != crc32(line)) return std::nullopt;
  return line;
}

}  // namespace haichi::report
