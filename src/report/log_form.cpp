#include "report/log_form.h"

#include <string.h>

#include <algorithm>
#include <array>

namespace haichi::report {
namespace {

constexpr size_t kSizeAt = 4, kKindAt = 8;

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

void put_u32(char* at, uint32_t value) {
  for (int i = 0; i < 4; ++i, value >>= 8) at[i] = char(value & 255);
}

uint32_t u32_at(const char* at) {
  uint32_t value = 0;
  for (int i = 4; i-- > 0;) value = value << 8 | uint8_t(at[i]);
  return value;
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

Frame::Frame(std::string& bytes, FrameKind kind) : bytes_(bytes), begin_(bytes.size()) {
  bytes_.append(kFrameHead, '\0');
  bytes_[begin_ + kKindAt] = char(kind);
}

Frame::~Frame() {
  put_u32(bytes_.data() + begin_ + kSizeAt, uint32_t(bytes_.size() - begin_ - kFrameHead));
}

void seal_frames(char* frames, size_t size) {
  for (char* const end = frames + size; frames < end;) {
    const size_t whole = kFrameHead + u32_at(frames + kSizeAt);
    put_u32(frames, crc32({frames + kSizeAt, whole - kSizeAt}));
    frames += whole;
  }
}

std::string sealed_frame(FrameKind kind, std::string_view payload) {
  std::string bytes(kFrameHead + payload.size(), '\0');
  put_sealed_frame(bytes.data(), kind, payload);
  return bytes;
}

void put_sealed_frame(char* to, FrameKind kind, std::string_view payload) {
  put_u32(to + kSizeAt, uint32_t(payload.size()));
  to[kKindAt] = char(kind);
  memcpy(to + kFrameHead, payload.data(), payload.size());
  seal_frames(to, kFrameHead + payload.size());
}

TakenFrame take_frame(std::string_view& bytes) {
  if (bytes.size() < kFrameHead || bytes[kKindAt] == 0) {
    // A writer that was stopped within the head has left some bytes of it.
    const std::string_view head = bytes.substr(0, kFrameHead);
    const bool nothing = std::all_of(head.begin(), head.end(), [](char c) { return c == 0; });
    bytes = {};
    return {.whole = nothing};
  }
  const size_t size = u32_at(bytes.data() + kSizeAt);
  if (size > bytes.size() - kFrameHead) {
    bytes = {};
    return {.whole = false};
  }
  const std::string_view covered = bytes.substr(kSizeAt, kFrameHead - kSizeAt + size);
  TakenFrame taken{.kind = FrameKind(bytes[kKindAt]),
                   .whole = crc32(covered) == u32_at(bytes.data()),
                   .payload = bytes.substr(kFrameHead, size)};
  bytes.remove_prefix(kFrameHead + size);
  return taken;
}

}  // namespace haichi::report
