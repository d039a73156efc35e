// What a program's file must hold, and whose bytes are where others should be.
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "oracle/program_plan.h"

namespace oracle {
namespace {

struct Owned {
  Piece cell;
  int call;
  const Part* part;
};

// Every cell of a phase whose place the plan knows, in the order of the file.
std::vector<Owned> owned_cells(const Phase& phase) {
  std::vector<Owned> out;
  for (size_t i = 0; i < phase.calls.size(); ++i)
    if (phase.calls[i].kind != CallKind::write_shared)
      for (const Part& part : phase.calls[i].parts)
        for (const Piece& cell : part.cells) out.push_back({cell, int(i), &part});
  std::sort(out.begin(), out.end(),
            [](const Owned& a, const Owned& b) { return a.cell.at < b.cell.at; });
  return out;
}

const Owned* owner_of(const std::vector<Owned>& cells, int64_t at) {
  auto next = std::upper_bound(cells.begin(), cells.end(), at,
                               [](int64_t x, const Owned& owned) { return x < owned.cell.at; });
  if (next == cells.begin()) return nullptr;
  --next;
  return at < next->cell.at + next->cell.length ? &*next : nullptr;
}

std::string name_of(const Phase& phase, int call, int rank) {
  return "rank " + std::to_string(rank) + " in call " + std::to_string(call) + " (" +
         name_of(phase.calls[size_t(call)].kind) + ")";
}

}  // namespace

void fill_bytes(uint64_t key, int64_t at, int64_t length, uint8_t* into) {
  int64_t i = 0;
  while (i < length) {
    const uint64_t word = mix(key + uint64_t(at + i) / 8);
    const int64_t skip = (at + i) % 8;
    const int64_t some = std::min(8 - skip, length - i);
    std::memcpy(into + i, reinterpret_cast<const uint8_t*>(&word) + skip, size_t(some));
    i += some;
  }
}

ProgramModel::ProgramModel(const Program& program) : program_(program) {
  int64_t end = program.before_bytes;
  for (const Phase& phase : program.phases) end = std::max(end, phase.end);
  bytes_.resize(size_t(end));
  fill_bytes(program.before_key, 0, program.before_bytes, bytes_.data());
  size_ = program.before_bytes;
}

// Records at the shared pointer are each there once, in the order in which ranks came.
void ProgramModel::place_records(const Phase& phase, const ProgramView& view, int index,
                                 const std::vector<uint8_t>& content,
                                 std::vector<std::string>& problems) {
  const ProgramCall& call = phase.calls[size_t(index)];
  std::vector<std::vector<uint8_t>> missing;
  int64_t length = 0;
  for (const Part& part : call.parts)
    for (const Piece& cell : part.cells) {
      length = cell.length;
      std::vector<uint8_t> record(static_cast<size_t>(length));
      fill_bytes(part.key, cell.at, length, record.data());
      missing.push_back(std::move(record));
    }
  for (int64_t at = view.records.at; at < view.records.at + view.records.length; at += length) {
    if (at + length > int64_t(content.size())) break;
    const auto from = content.begin() + at;
    const auto found = std::find_if(missing.begin(), missing.end(), [&](const auto& record) {
      return std::equal(record.begin(), record.end(), from);
    });
    if (found == missing.end()) continue;
    std::copy(found->begin(), found->end(), bytes_.begin() + at);
    missing.erase(found);
  }
  if (missing.empty()) return;
  problems.push_back("call " + std::to_string(index) + " (write_shared): " +
                     std::to_string(missing.size()) + " records of " + std::to_string(length) +
                     " bytes are not between " + std::to_string(view.records.at) + " and " +
                     std::to_string(view.records.at + view.records.length));
  std::copy_n(content.begin() + view.records.at,
              std::min(view.records.length, int64_t(content.size()) - view.records.at),
              bytes_.begin() + view.records.at);
}

std::vector<std::string> ProgramModel::check(int index, std::vector<uint8_t> content) {
  const Phase& phase = program_.phases[size_t(index)];
  std::vector<std::string> problems;
  before_ = bytes_;
  for (const Owned& owned : owned_cells(phase)) {
    fill_bytes(owned.part->key, owned.cell.at, owned.cell.length, bytes_.data() + owned.cell.at);
    size_ = std::max(size_, owned.cell.at + owned.cell.length);
  }
  const int64_t got = int64_t(content.size());
  content.resize(bytes_.size());
  for (size_t i = 0; i < phase.calls.size(); ++i)
    if (phase.calls[i].kind == CallKind::write_shared) {
      const ProgramView& view = phase.views[size_t(phase.calls[i].view)];
      if (view.records.length == 0) continue;
      place_records(phase, view, int(i), content, problems);
      size_ = std::max(size_, view.records.at + view.records.length);
    }
  if (got != size_)
    problems.push_back("the file has " + std::to_string(got) + " bytes and should have " +
                       std::to_string(size_));
  take_unwritten(index, content);
  if (content != bytes_) {
    const auto lines = explain(phase, content);
    problems.insert(problems.end(), lines.begin(), lines.end());
  }
  return problems;
}

// What is beyond the file as it was and has no writer yet is undefined by the standard; ROMIO's
// data sieving leaves there what was in its buffer.
void ProgramModel::take_unwritten(int index, const std::vector<uint8_t>& content) {
  std::vector<bool> known(bytes_.size());
  std::fill_n(known.begin(), program_.before_bytes, true);
  for (int i = 0; i <= index; ++i)
    for (const ProgramCall& call : program_.phases[size_t(i)].calls)
      for (const Part& part : call.parts)
        for (const Piece& cell : part.cells)
          std::fill_n(known.begin() + cell.at, cell.length, true);
  for (size_t i = 0; i < bytes_.size(); ++i)
    if (!known[i]) bytes_[i] = content[i];
}

std::vector<std::string> ProgramModel::explain(const Phase& phase,
                                               const std::vector<uint8_t>& content) const {
  const std::vector<Owned> cells = owned_cells(phase);
  struct Tally {
    int64_t bytes = 0, runs = 0, first = 0;
  };
  std::map<std::tuple<std::string, std::string>, Tally> tallies;
  int64_t all = 0;
  for (int64_t at = 0; at < int64_t(content.size()); ++at) {
    if (content[size_t(at)] == bytes_[size_t(at)]) continue;
    const Owned* owner = owner_of(cells, at);
    int64_t end = at + 1;
    while (end < int64_t(content.size()) && content[size_t(end)] != bytes_[size_t(end)] &&
           owner_of(cells, end) == owner)
      ++end;
    Tally& tally = tallies[{owner ? name_of(phase, owner->call, owner->part->rank) : "nobody",
                            whose(phase, content, at, end)}];
    if (tally.bytes == 0) tally.first = at;
    tally.bytes += end - at;
    ++tally.runs;
    all += end - at;
    at = end - 1;
  }
  std::vector<std::string> lines = {std::to_string(all) + " bytes are wrong"};
  for (const auto& [names, tally] : tallies) {
    if (lines.size() > 12) break;
    const auto& [owner, instead] = names;
    lines.push_back("  of " + owner + ": " + std::to_string(tally.bytes) + " bytes, the first at " +
                    std::to_string(tally.first) + "; instead: " + instead);
  }
  return lines;
}

// Whose bytes are at at..end-1, as far as a few of them tell.
std::string ProgramModel::whose(const Phase& phase, const std::vector<uint8_t>& content, int64_t at,
                                int64_t end) const {
  const int64_t length = std::min<int64_t>(end - at, 64);
  const uint8_t* const got = content.data() + at;
  if (std::memcmp(got, before_.data() + at, size_t(length)) == 0)
    return "what was there before the phase";
  if (std::all_of(got, got + length, [](uint8_t byte) { return byte == 0; })) return "zeros";
  std::vector<uint8_t> other(static_cast<size_t>(length));
  if (length >= 3)
    for (size_t i = 0; i < phase.calls.size(); ++i)
      for (const Part& part : phase.calls[i].parts) {
        fill_bytes(part.key, at, length, other.data());
        if (std::memcmp(got, other.data(), size_t(length)) == 0)
          return "bytes of " + name_of(phase, int(i), part.rank);
      }
  return "bytes of nobody";
}

}  // namespace oracle
