#include "oracle/byte_model.h"

#include <algorithm>
#include <cstdio>

namespace oracle {
namespace {

void append(std::vector<Piece>& pieces, int64_t at, int64_t length) {
  if (length == 0) return;
  if (!pieces.empty() && pieces.back().at + pieces.back().length == at)
    pieces.back().length += length;
  else
    pieces.push_back({at, length});
}

}  // namespace

MemoryMap::MemoryMap(const Typemap& type, int64_t count) {
  const int64_t extent = type.extent();
  for (int64_t i = 0; i < count; ++i)
    for (const Basic& basic : type.basics) append(pieces_, i * extent + basic.at, basic.size);
  if (pieces_.empty()) return;
  low_ = INT64_MAX, high_ = INT64_MIN;
  for (const Piece& piece : pieces_) {
    low_ = std::min(low_, piece.at);
    high_ = std::max(high_, piece.at + piece.length);
    bytes_ += piece.length;
  }
}

bool MemoryMap::overlaps() const {
  std::vector<Piece> sorted = pieces_;
  std::sort(sorted.begin(), sorted.end(), [](Piece a, Piece b) { return a.at < b.at; });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1].at + sorted[i - 1].length > sorted[i].at) return true;
  return false;
}

ViewMap::ViewMap(int64_t displacement, TypePtr etype, TypePtr filetype)
    : displacement_(displacement),
      filetype_(std::move(filetype)),
      etype_size_(etype->map.size()),
      tile_size_(filetype_->map.size()),
      tile_extent_(filetype_->map.extent()) {
  int64_t sum = 0;
  for (const Basic& basic : filetype_->map.basics) {
    before_.push_back(sum);
    sum += basic.size;
  }
}

std::vector<Piece> ViewMap::pieces(int64_t first, int64_t length) const {
  std::vector<Piece> out;
  if (length == 0) return out;
  const auto& basics = filetype_->map.basics;
  int64_t tile = first / tile_size_, within = first % tile_size_;
  size_t i = size_t(std::upper_bound(before_.begin(), before_.end(), within) - before_.begin()) - 1;
  int64_t skip = within - before_[i];
  while (length > 0) {
    const int64_t take = std::min(length, int64_t(basics[i].size) - skip);
    append(out, displacement_ + tile * tile_extent_ + basics[i].at + skip, take);
    length -= take;
    skip = 0;
    if (++i == basics.size()) i = 0, ++tile;
  }
  return out;
}

int64_t ViewMap::bytes_below(int64_t limit) const {
  if (tile_size_ == 0) return 0;
  const Typemap& map = filetype_->map;
  int64_t tile = 0;  // all tiles before this one are below the limit
  if (!one_tile()) {
    const int64_t room = limit - displacement_ - map.true_upper();
    tile = room < 0 ? 0 : room / tile_extent_ + 1;
  }
  int64_t total = tile * tile_size_;
  for (const Basic& basic : map.basics) {
    const int64_t at = displacement_ + tile * tile_extent_ + basic.at;
    if (at + basic.size > limit) return total + std::max<int64_t>(0, limit - at);
    total += basic.size;
  }
  return total;
}

bool ViewMap::one_tile() const {
  const Typemap& map = filetype_->map;
  return tile_extent_ < map.true_upper() - map.true_lower();
}

void FileModel::prefill(const std::vector<uint8_t>& bytes) {
  value_ = bytes;
  writer_.assign(bytes.size(), kPrefill);
  when_.assign(bytes.size(), 0);
  if (!bytes.empty()) size_ = base_ + int64_t(bytes.size());
}

void FileModel::write(const std::vector<RankWrite>& writes) {
  ++call_;
  choices_.clear();
  for (const RankWrite& write : writes) {
    size_t next = 0;
    for (const Piece& piece : write.pieces) {
      const size_t end = size_t(piece.at - base_ + piece.length);
      if (end > value_.size()) {
        value_.resize(end, 0);
        writer_.resize(end, kHole);
        when_.resize(end, 0);
      }
      size_ = std::max(size_, piece.at + piece.length);
      for (size_t i = size_t(piece.at - base_); i < end; ++i, ++next) {
        if (when_[i] == call_) {
          auto& values = choices_[int64_t(i)];
          if (values.empty()) values.push_back(value_[i]);
          values.push_back(write.data[next]);
        }
        value_[i] = write.data[next], writer_[i] = write.rank, when_[i] = call_;
      }
    }
  }
}

std::optional<std::string> FileModel::check(int64_t size, const std::vector<uint8_t>& content,
                                            bool lax_holes) {
  char text[256];
  if (size != size_) {
    std::snprintf(text, sizeof text, "the file has %lld bytes and should have %lld",
                  (long long)size, (long long)size_);
    return text;
  }
  int64_t wrong = 0, first = -1;
  for (size_t i = 0; i < value_.size(); ++i) {
    const auto open = choices_.find(int64_t(i));
    const bool any_of =
        open != choices_.end() &&
        std::find(open->second.begin(), open->second.end(), content[i]) != open->second.end();
    if (any_of || (writer_[i] == kHole && lax_holes)) value_[i] = content[i];
    if (value_[i] == content[i]) continue;
    if (wrong++ == 0) first = int64_t(i);
  }
  choices_.clear();
  if (wrong == 0) return {};
  const int writer = writer_[size_t(first)];
  const std::string who =
      writer == kHole ? "a hole that nobody wrote"
      : writer == kPrefill
          ? "there before the program, written by nobody"
          : "written by rank " + std::to_string(writer) +
                (when_[size_t(first)] == call_ ? " in this call" : " in an earlier call");
  std::snprintf(
      text, sizeof text,
      "%lld bytes of the file are wrong; the first, at %lld (%s), is 0x%02x and should be "
      "0x%02x",
      (long long)wrong, (long long)(base_ + first), who.c_str(), content[size_t(first)],
      value_[size_t(first)]);
  return text;
}

}  // namespace oracle
