#include "mpiio/regions/pattern.h"

#include <errno.h>

#include <cstring>

namespace haichi::mpiio {
namespace {

int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

// How many equal parts in a row, at equal distances, become a loop; and how many blocks among other
// blocks, where a list needs 8 bytes for each.
constexpr size_t kRunForLoop = 3;
constexpr size_t kBlocksForLoop = 32;
// How many blocks in a row become a list among other parts.
constexpr size_t kBlocksForList = 8;
// Parts of a list of parts that have no more blocks than this in the mean become blocks of one
// list.
constexpr int64_t kFlatBlocks = 2;

// Equal for the purpose of making loops; structure is compared for blocks only, which is what
// indexed types consist of.
bool interchangeable(const PatternPtr& a, const PatternPtr& b) {
  return a == b || (a->is_block() && b->is_block() && a->size() == b->size());
}

// Joins neighbouring blocks. In place: these lists may be the largest that there are.
void join_neighbours(std::vector<Pattern::Placed>& parts) {
  size_t kept = 0;
  int64_t joined = 0;  // bytes by which the last kept block must grow
  auto grow = [&] {
    if (joined > 0)
      parts[kept - 1].pattern = Pattern::block(parts[kept - 1].pattern->size() + joined);
    joined = 0;
  };
  for (Pattern::Placed& part : parts) {
    if (part.pattern->empty()) continue;
    if (kept > 0 && part.pattern->is_block() && parts[kept - 1].pattern->is_block() &&
        parts[kept - 1].offset + parts[kept - 1].pattern->size() + joined == part.offset) {
      joined += part.pattern->size();
      continue;
    }
    grow();
    if (&part != &parts[kept]) parts[kept] = std::move(part);
    ++kept;
  }
  grow();
  parts.resize(kept);
}

void join_neighbours(std::vector<Pattern::Block>& blocks) {
  size_t kept = 0;
  for (const Pattern::Block block : blocks) {
    if (block.size <= 0) continue;
    if (kept > 0 && blocks[kept - 1].offset + blocks[kept - 1].size == block.offset)
      blocks[kept - 1].size += block.size;
    else
      blocks[kept++] = block;
  }
  blocks.resize(kept);
}

// How many of the first blocks are equal and at equal distances; at least 1.
size_t regular_run(std::span<const Pattern::Block> blocks) {
  if (blocks.size() < 2) return blocks.size();
  const int64_t stride = blocks[1].offset - blocks[0].offset;
  size_t run = 1;
  while (run < blocks.size() && blocks[run].size == blocks[0].size &&
         blocks[run].offset - blocks[run - 1].offset == stride)
    ++run;
  return run;
}

// Many parts of hardly more than a block: going down to each costs more than a longer list. `given`
// is how many there were before loops were found; where these took most of them, they are kept.
bool worth_flattening(const std::vector<Pattern::Placed>& parts, size_t given) {
  if (parts.size() < std::max(kBlocksForList, given / 2)) return false;
  const auto most = int64_t(given) * kFlatBlocks;
  int64_t blocks = 0;
  for (const Pattern::Placed& part : parts) {
    blocks = saturating_add(blocks, part.pattern->blocks());
    if (blocks > most) return false;
  }
  return true;
}

std::vector<Pattern::Block> blocks_of(const std::vector<Pattern::Placed>& parts) {
  std::vector<Pattern::Block> blocks;
  blocks.reserve(parts.size() * kFlatBlocks);
  for (const Pattern::Placed& part : parts)
    part.pattern->for_each_block(0, part.pattern->size(), part.offset,
                                 [&](int64_t at, int64_t n) { blocks.push_back({at, n}); });
  return blocks;
}

// Turns runs of equal parts at equal distances into loops, in place.
void find_loops(std::vector<Pattern::Placed>& parts) {
  size_t kept = 0;
  for (size_t i = 0; i < parts.size();) {
    size_t run = 1;
    const int64_t stride = i + 1 < parts.size() ? parts[i + 1].offset - parts[i].offset : 0;
    while (i + run < parts.size() && interchangeable(parts[i].pattern, parts[i + run].pattern) &&
           parts[i + run].offset - parts[i + run - 1].offset == stride)
      ++run;
    const bool among_blocks = run < parts.size() && parts[i].pattern->is_block();
    if (run < (among_blocks ? kBlocksForLoop : kRunForLoop)) run = 1;
    Pattern::Placed found = std::move(parts[i]);
    if (run > 1) found.pattern = Pattern::loop(found.pattern, int64_t(run), stride);
    parts[kept++] = std::move(found);
    i += run;
  }
  parts.resize(kept);
}

}  // namespace

PatternPtr Pattern::block(int64_t size) {
  auto pattern = std::make_shared<Pattern>(Key{});
  pattern->size_ = size;
  pattern->end_ = size;
  pattern->blocks_ = size > 0;
  pattern->footprint_ = sizeof(Pattern);
  return pattern;
}

PatternPtr Pattern::loop(PatternPtr child, int64_t count, int64_t stride) {
  if (count <= 0 || child->empty()) return block(0);
  if (count == 1) return child;
  if (child->kind_ == Kind::block && stride == child->size_) return block(count * stride);
  if (child->kind_ == Kind::loop && stride == child->count_ * child->stride_) {
    const int64_t inner = child->stride_;
    const int64_t total = child->count_ * count;
    return loop(child->child_, total, inner);
  }
  auto pattern = std::make_shared<Pattern>(Key{});
  pattern->kind_ = Kind::loop;
  pattern->count_ = count;
  pattern->stride_ = stride;
  pattern->size_ = child->size_ * count;
  const int64_t reach = (count - 1) * stride;
  pattern->begin_ = child->begin_ + std::min<int64_t>(0, reach);
  pattern->end_ = child->end_ + std::max<int64_t>(0, reach);
  pattern->blocks_ = saturating_multiply(child->blocks_, count);
  pattern->sorted_ = child->sorted_ && stride >= child->end_ - child->begin_;
  pattern->footprint_ = int64_t(sizeof(Pattern)) + child->footprint_;
  pattern->child_ = std::move(child);
  return pattern;
}

PatternPtr Pattern::sequence(std::vector<Placed> parts) {
  // A part that only moves its single child is replaced by that child, so that deep nests of
  // one-element structs stay flat.
  for (Placed& part : parts)
    while (part.pattern->kind_ == Kind::sequence && part.pattern->parts_.size() == 1) {
      part.offset += part.pattern->parts_[0].offset;
      part.pattern = PatternPtr(part.pattern->parts_[0].child);
    }
  join_neighbours(parts);
  const size_t given = parts.size();
  find_loops(parts);
  if (worth_flattening(parts, given)) return scattered(blocks_of(parts));
  return whole_of(with_lists(std::move(parts)));
}

PatternPtr Pattern::whole_of(std::vector<Placed> parts) {
  if (parts.empty()) return block(0);
  if (parts.size() == 1 && parts[0].offset == 0) return parts[0].pattern;
  return make_sequence(std::move(parts));
}

PatternPtr Pattern::scattered(std::vector<Block> blocks) {
  join_neighbours(blocks);
  std::vector<Placed> parts;
  const std::span<const Block> all(blocks);
  size_t waiting = 0;  // the first block that is in no part
  for (size_t i = 0; i < all.size();) {
    const size_t run = regular_run(all.subspan(i));
    if (run < (run < all.size() ? kBlocksForLoop : kRunForLoop)) {
      // No run can begin inside a shorter one, except with its last block.
      i += std::max<size_t>(run - 1, 1);
      continue;
    }
    add_blocks(all.subspan(waiting, i - waiting), parts);
    const int64_t stride = all[i + 1].offset - all[i].offset;
    parts.push_back({all[i].offset, loop(block(all[i].size), int64_t(run), stride)});
    i += run;
    waiting = i;
  }
  add_blocks(all.subspan(waiting), parts);
  return whole_of(std::move(parts));
}

// Offsets of a list are the parent's, so that the list is the whole pattern where it can be.
void Pattern::add_blocks(std::span<const Block> blocks, std::vector<Placed>& parts) {
  if (blocks.size() >= kBlocksForList) {
    parts.push_back({0, list_of(blocks)});
    return;
  }
  for (const Block& b : blocks) parts.push_back({b.offset, block(b.size)});
}

std::vector<Pattern::Placed> Pattern::with_lists(std::vector<Placed> parts) {
  std::vector<Placed> result;
  std::vector<Block> blocks;
  for (Placed& part : parts) {
    if (part.pattern->is_block()) {
      blocks.push_back({part.offset, part.pattern->size()});
      continue;
    }
    add_blocks(blocks, result);
    blocks.clear();
    result.push_back(std::move(part));
  }
  add_blocks(blocks, result);
  return result;
}

PatternPtr Pattern::list_of(std::span<const Block> blocks) {
  const int64_t each = blocks[0].size;
  const bool equal =
      std::all_of(blocks.begin(), blocks.end(), [&](const Block& b) { return b.size == each; });
  std::vector<int64_t> offsets, ends;
  offsets.reserve(blocks.size());
  if (!equal) ends.reserve(blocks.size());
  int64_t data = 0;
  for (const Block& b : blocks) {
    offsets.push_back(b.offset);
    data += b.size;
    if (!equal) ends.push_back(data);
  }
  return make_list(std::move(offsets), std::move(ends), equal ? each : 0);
}

PatternPtr Pattern::make_list(std::vector<int64_t> offsets, std::vector<int64_t> ends,
                              int64_t each) {
  auto pattern = std::make_shared<Pattern>(Key{});
  pattern->kind_ = Kind::list;
  pattern->each_ = each;
  pattern->offsets_ = std::move(offsets);
  pattern->ends_ = std::move(ends);
  const size_t n = pattern->offsets_.size();
  pattern->blocks_ = int64_t(n);
  pattern->size_ = pattern->end_of(n - 1);
  pattern->begin_ = INT64_MAX;
  pattern->end_ = INT64_MIN;
  for (size_t i = 0; i < n; ++i) {
    const int64_t offset = pattern->offsets_[i];
    const int64_t end = offset + pattern->end_of(i) - pattern->begin_of(i);
    pattern->sorted_ = pattern->sorted_ && offset >= pattern->end_;
    pattern->begin_ = std::min(pattern->begin_, offset);
    pattern->end_ = std::max(pattern->end_, end);
  }
  pattern->footprint_ =
      int64_t(sizeof(Pattern) +
              (pattern->offsets_.capacity() + pattern->ends_.capacity()) * sizeof(int64_t));
  return pattern;
}

PatternPtr Pattern::make_sequence(std::vector<Placed> parts) {
  auto pattern = std::make_shared<Pattern>(Key{});
  pattern->kind_ = Kind::sequence;
  pattern->begin_ = INT64_MAX;
  pattern->end_ = INT64_MIN;
  pattern->blocks_ = 0;
  pattern->footprint_ = sizeof(Pattern);
  int64_t data = 0;
  const Pattern* previous = nullptr;
  for (Placed& part : parts) {
    const Pattern& child = *part.pattern;
    pattern->sorted_ =
        pattern->sorted_ && child.sorted_ && part.offset + child.begin_ >= pattern->end_;
    pattern->begin_ = std::min(pattern->begin_, part.offset + child.begin_);
    pattern->end_ = std::max(pattern->end_, part.offset + child.end_);
    pattern->blocks_ = saturating_add(pattern->blocks_, child.blocks_);
    pattern->footprint_ += int64_t(sizeof(Part)) + (&child == previous ? 0 : child.footprint_);
    previous = &child;
    const int64_t size = child.size_;
    pattern->parts_.push_back({part.offset, data, std::move(part.pattern)});
    data += size;
  }
  pattern->size_ = data;
  return pattern;
}

PatternPtr Pattern::shifted(PatternPtr child, int64_t offset) {
  if (offset == 0) return child;
  return sequence({{offset, std::move(child)}});
}

int64_t Pattern::bytes_below(int64_t offset) const {
  if (offset <= begin_) return 0;
  if (offset >= end_) return size_;
  switch (kind_) {
    case Kind::block:
      return offset;
    case Kind::loop: {
      const int64_t i =
          std::clamp<int64_t>(floor_divide(offset - child_->begin_, stride_), 0, count_ - 1);
      return i * child_->size_ + child_->bytes_below(offset - i * stride_);
    }
    case Kind::list: {
      const auto behind = std::lower_bound(offsets_.begin(), offsets_.end(), offset);
      const size_t i = size_t(behind - offsets_.begin()) - 1;
      return std::min(begin_of(i) + offset - offsets_[i], end_of(i));
    }
    case Kind::sequence: {
      auto part = std::lower_bound(
          parts_.begin(), parts_.end(), offset,
          [](const Part& p, int64_t at) { return p.offset + p.child->begin_ < at; });
      --part;  // there is one, since offset > begin_
      return part->data_begin + part->child->bytes_below(offset - part->offset);
    }
  }
  return 0;
}

std::vector<Pattern::Part>::const_iterator Pattern::part_at(int64_t from) const {
  const auto behind = std::upper_bound(parts_.begin(), parts_.end(), from,
                                       [](int64_t at, const Part& p) { return at < p.data_begin; });
  return behind - 1;
}

Pattern::Child Pattern::child_at(int64_t from) const {
  if (kind_ == Kind::sequence) {
    const auto at = part_at(from);
    return {at->child.get(), at->data_begin, at->offset};
  }
  const int64_t i = from / child_->size_;
  return {child_.get(), i * child_->size_, i * stride_};
}

std::optional<int64_t> Pattern::contiguous_at(int64_t from, int64_t to) const {
  if (to > size_ || from >= to) return std::nullopt;
  int64_t base = 0;
  const Pattern* node = this;
  while (node->kind_ != Kind::block) {
    if (node->kind_ == Kind::list) {
      const size_t i = node->index_at(from);
      if (to > node->end_of(i)) return std::nullopt;
      return base + node->offsets_[i] + from - node->begin_of(i);
    }
    const Child child = node->child_at(from);
    if (to > child.data_begin + child.pattern->size_) return std::nullopt;
    from -= child.data_begin;
    to -= child.data_begin;
    base += child.offset;
    node = child.pattern;
  }
  return base + from;
}

std::optional<Pattern::Repeat> Pattern::repeat(int64_t from, int64_t to) const {
  if (to > size_ || from >= to) return std::nullopt;
  Repeat result{};
  for_each_block(from, from + 1, 0, [&](int64_t at, int64_t) { result.begin = at; });
  for_each_block(to - 1, to, 0, [&](int64_t at, int64_t) { result.end = at + 1; });
  const Pattern* node = this;
  while (node->kind_ != Kind::block) {
    if (node->kind_ == Kind::list) {
      if (to > node->end_of(node->index_at(from))) return std::nullopt;
      break;
    }
    const Child child = node->child_at(from);
    if (to > child.data_begin + child.pattern->size_) {
      if (node->kind_ == Kind::sequence) return std::nullopt;
      result.stride = node->stride_;
      break;
    }
    from -= child.data_begin;
    to -= child.data_begin;
    node = child.pattern;
  }
  return result;
}

PatternPtr Pattern::part_of_loop(const Pattern& whole, int64_t from, int64_t to) {
  const PatternPtr& child = whole.child_;
  const int64_t each = child->size_;
  int64_t first = from / each;
  const int64_t last = to / each;  // the first that is not wholly inside
  std::vector<Placed> parts;
  if (first * each < from || first == last) {
    const int64_t until = std::min(each, to - first * each);
    parts.push_back({first * whole.stride_, part(child, from - first * each, until)});
    ++first;
  }
  if (first < last)
    parts.push_back({first * whole.stride_, loop(child, last - first, whole.stride_)});
  if (first <= last && last * each < to)
    parts.push_back({last * whole.stride_, part(child, 0, to - last * each)});
  return sequence(std::move(parts));
}

// Blocks that are cut stand beside the list of the others, which may stay one of equal blocks.
PatternPtr Pattern::part_of_list(const Pattern& whole, int64_t from, int64_t to) {
  size_t first = whole.index_at(from);
  size_t last = whole.index_at(to - 1) + 1;
  auto cut = [&](size_t i) -> Placed {
    const int64_t lo = std::max(from, whole.begin_of(i)), hi = std::min(to, whole.end_of(i));
    return {whole.offsets_[i] + lo - whole.begin_of(i), block(hi - lo)};
  };
  std::vector<Placed> parts;
  std::optional<Placed> behind;
  if (from > whole.begin_of(first)) parts.push_back(cut(first++));
  if (first < last && to < whole.end_of(last - 1)) behind = cut(--last);
  if (first < last) {
    const auto range = [&](const std::vector<int64_t>& all) {
      return all.empty() ? all
                         : std::vector(all.begin() + int64_t(first), all.begin() + int64_t(last));
    };
    std::vector<int64_t> ends = range(whole.ends_);
    for (int64_t& end : ends) end -= whole.begin_of(first);
    parts.push_back({0, make_list(range(whole.offsets_), std::move(ends), whole.each_)});
  }
  if (behind) parts.push_back(std::move(*behind));
  return parts.size() == 1 && parts[0].offset == 0 ? parts[0].pattern
                                                   : make_sequence(std::move(parts));
}

PatternPtr Pattern::part(const PatternPtr& whole, int64_t from, int64_t to) {
  from = std::max<int64_t>(from, 0);
  to = std::min(to, whole->size_);
  if (from >= to) return block(0);
  if (from == 0 && to == whole->size_) return whole;
  if (whole->kind_ == Kind::block) return shifted(block(to - from), from);
  if (whole->kind_ == Kind::loop) return part_of_loop(*whole, from, to);
  if (whole->kind_ == Kind::list) return part_of_list(*whole, from, to);
  std::vector<Placed> parts;
  for (auto at = whole->part_at(from); at != whole->parts_.end() && at->data_begin < to; ++at)
    parts.push_back({at->offset, part(at->child, from - at->data_begin, to - at->data_begin)});
  return sequence(std::move(parts));
}

// Encoding: int64 words. One record per distinct node, children before parents:
//   block:    0 size          loop: 1 count stride child          sequence: 2 n (offset child)*n
//   list:     3 n size offset*n   or, with blocks of different sizes, 4 n offset*n end*n
// where `child` is the index of an earlier record; the last record is the root.
namespace {

struct Encoder {
  std::vector<int64_t> words;
  int64_t records = 0;
};

}  // namespace

std::vector<std::byte> Pattern::encode() const {
  Encoder out;
  std::unordered_map<const Pattern*, int64_t> index;
  auto write = [&](auto&& self, const Pattern* node) -> int64_t {
    if (const auto known = index.find(node); known != index.end()) return known->second;
    if (node->kind_ == Kind::block) {
      out.words.insert(out.words.end(), {0, node->size_});
    } else if (node->kind_ == Kind::loop) {
      const int64_t child = self(self, node->child_.get());
      out.words.insert(out.words.end(), {1, node->count_, node->stride_, child});
    } else if (node->kind_ == Kind::list) {
      const int64_t n = node->blocks_;
      if (node->each_ > 0)
        out.words.insert(out.words.end(), {3, n, node->each_});
      else
        out.words.insert(out.words.end(), {4, n});
      for (const auto* list : {&node->offsets_, &node->ends_})
        out.words.insert(out.words.end(), list->begin(), list->end());
    } else {
      std::vector<int64_t> record = {2, int64_t(node->parts_.size())};
      for (const Part& part : node->parts_) {
        record.push_back(part.offset);
        record.push_back(self(self, part.child.get()));
      }
      out.words.insert(out.words.end(), record.begin(), record.end());
    }
    return index[node] = out.records++;
  };
  write(write, this);
  const auto bytes = std::as_bytes(std::span(out.words));
  return {bytes.begin(), bytes.end()};
}

Result<PatternPtr> Pattern::decode(std::span<const std::byte> data) {
  std::vector<int64_t> words(data.size() / sizeof(int64_t));
  if (!words.empty()) memcpy(words.data(), data.data(), words.size() * sizeof(int64_t));
  std::vector<PatternPtr> nodes;
  size_t at = 0;
  auto left = [&] { return words.size() - at; };
  auto valid = [&](int64_t child) { return child >= 0 && size_t(child) < nodes.size(); };
  while (left() >= 2) {
    const int64_t kind = words[at];
    if (kind == 0) {
      nodes.push_back(block(words[at + 1]));
      at += 2;
    } else if (kind == 1 && left() >= 4 && valid(words[at + 3])) {
      nodes.push_back(loop(nodes[size_t(words[at + 3])], words[at + 1], words[at + 2]));
      at += 4;
    } else if (kind == 2 && words[at + 1] >= 0 && left() >= 2 + 2 * size_t(words[at + 1])) {
      std::vector<Placed> parts;
      const size_t n = size_t(words[at + 1]);
      for (size_t i = 0; i < n; ++i) {
        const int64_t child = words[at + 3 + 2 * i];
        if (!valid(child)) return fail(EBADMSG, "damaged datatype description from another rank");
        parts.push_back({words[at + 2 + 2 * i], nodes[size_t(child)]});
      }
      nodes.push_back(make_sequence(std::move(parts)));
      at += 2 + 2 * n;
    } else if (kind == 3 && left() >= 3 && words[at + 1] > 0 && words[at + 2] > 0 &&
               left() - 3 >= size_t(words[at + 1])) {
      const auto offsets = words.begin() + int64_t(at) + 3;
      nodes.push_back(make_list({offsets, offsets + words[at + 1]}, {}, words[at + 2]));
      at += 3 + size_t(words[at + 1]);
    } else if (kind == 4 && words[at + 1] > 0 && (left() - 2) / 2 >= size_t(words[at + 1])) {
      const auto offsets = words.begin() + int64_t(at) + 2, ends = offsets + words[at + 1];
      nodes.push_back(make_list({offsets, ends}, {ends, ends + words[at + 1]}, 0));
      at += 2 + 2 * size_t(words[at + 1]);
    } else {
      return fail(EBADMSG, "damaged datatype description from another rank");
    }
  }
  if (nodes.empty() || left() != 0)
    return fail(EBADMSG, "damaged datatype description from another rank");
  return nodes.back();
}

void PatternBuilder::add(int64_t offset, int64_t size) {
  if (size <= 0) return;
  if (!blocks_.empty() && blocks_.back().offset + blocks_.back().size == offset)
    blocks_.back().size += size;
  else
    blocks_.push_back({offset, size});
}

PatternPtr PatternBuilder::build() { return Pattern::scattered(std::move(blocks_)); }

}  // namespace haichi::mpiio
