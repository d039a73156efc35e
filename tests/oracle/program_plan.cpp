#include "oracle/program_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace oracle {

const std::vector<FeatureRow>& table_of(ProgramFeature) {
  static const std::vector<FeatureRow> table = {
      {"collective", "write_all and write_at_all"},
      {"split", "split collectives, with other calls between begin and end"},
      {"icollective", "iwrite_all and iwrite_at_all"},
      {"strided", "independent writes of several pieces in one call"},
      {"contiguous", "independent writes of one piece each"},
      {"istrided", "iwrite and iwrite_at of several pieces"},
      {"icontiguous", "iwrite and iwrite_at of one piece each"},
      {"shared", "write_shared"},
      {"ordered", "write_ordered"},
      {"threads", "independent calls by a second thread"},
      {"world", "calls through a handle over MPI_COMM_WORLD"},
      {"twin", "calls through a handle over a duplicate of MPI_COMM_WORLD"},
      {"halves", "calls through handles over halves of the ranks"},
      {"alone", "calls through handles over MPI_COMM_SELF"},
      {"slow", "system calls that sleep now and then"},
      {"views", "MPI_File_set_view between the calls of a phase"},
      {"flat", "accesses through the view that MPI_File_open gives"},
      {"gaps", "memory types with gaps"},
      {"late", "ranks that sleep up to two milliseconds before a call"},
      {"waits", "ranks that complete nonblocking collectives at different places"},
      {"hints", "hints that choose sieving, aggregators and small buffers"},
      {"holes", "bytes between the pieces that nobody writes"},
      {"growing", "files that are shorter than what is written"},
      {"unequal", "pieces of different length, dealt out at random"},
      {"tiny", "pieces below 64 bytes"},
      {"bare", "the library's writes of several pieces without sieving, as hints ask for"},
      {"unlocked", "aggregators on a handle of one rank, as hints ask for"}};
  return table;
}

bool ProgramFeatures::allows(const std::bitset<kProgramFeatures>& phase) const {
  const std::bitset<64> has(phase.to_ullong());
  return std::none_of(pairs_.begin(), pairs_.end(),
                      [&](const auto& pair) { return (has & pair) == pair; });
}

std::optional<std::string> ProgramFeatures::leave_out(std::string_view list) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string word(list.substr(0, comma));
    if (word.find('+') == word.npos) {
      if (auto unknown = set_.leave_out(word)) return unknown;
    } else {
      std::replace(word.begin(), word.end(), '+', ',');
      std::bitset<64> pair;
      if (auto unknown = parse_features(table_of(ProgramFeature{}), word, pair)) return unknown;
      pairs_.push_back(pair);
    }
    if (comma == list.npos) break;
    list.remove_prefix(comma + 1);
  }
  return {};
}

const char* name_of(CallKind kind) {
  static const char* const names[] = {"write_all",
                                      "write_at_all",
                                      "write_all (split)",
                                      "write_at_all (split)",
                                      "iwrite_all",
                                      "iwrite_at_all",
                                      "write",
                                      "write_at",
                                      "iwrite",
                                      "iwrite_at",
                                      "write_shared",
                                      "write_ordered"};
  return names[int(kind)];
}

bool is_split(CallKind kind) {
  return kind == CallKind::write_all_split || kind == CallKind::write_at_all_split;
}

bool is_collective(CallKind kind) {
  return kind <= CallKind::iwrite_at_all || kind == CallKind::write_ordered;
}

bool is_nonblocking(CallKind kind) {
  return kind == CallKind::iwrite_all || kind == CallKind::iwrite_at_all ||
         kind == CallKind::iwrite || kind == CallKind::iwrite_at;
}

bool is_at_shared(CallKind kind) { return kind >= CallKind::write_shared; }

bool has_offset(CallKind kind) { return !is_at_shared(kind) && int(kind) % 2 == 1; }

const std::vector<int>& Handle::group_of(int rank) const {
  static const std::vector<int> none;
  for (const auto& group : groups)
    if (std::find(group.begin(), group.end(), rank) != group.end()) return group;
  return none;
}

int64_t Part::bytes() const {
  int64_t sum = 0;
  for (const Piece& cell : cells) sum += cell.length;
  return sum;
}

const Part* ProgramCall::part_of(int rank) const {
  for (const Part& part : parts)
    if (part.rank == rank) return &part;
  return nullptr;
}

bool Phase::threaded() const {
  return std::any_of(calls.begin(), calls.end(), [](const auto& call) { return call.in_thread; });
}

namespace {

constexpr int64_t kMostBytes = 16 << 20;  // of a phase; most have a small part of it

using F = ProgramFeature;

struct ClassRow {
  F feature;
  std::vector<CallKind> kinds;
  bool each_cell;
};

const std::vector<ClassRow>& classes() {
  static const std::vector<ClassRow> rows = {
      {F::collective, {CallKind::write_all, CallKind::write_at_all}, false},
      {F::split, {CallKind::write_all_split, CallKind::write_at_all_split}, false},
      {F::icollective, {CallKind::iwrite_all, CallKind::iwrite_at_all}, false},
      {F::strided, {CallKind::write, CallKind::write_at}, false},
      {F::contiguous, {CallKind::write, CallKind::write_at}, true},
      {F::istrided, {CallKind::iwrite, CallKind::iwrite_at}, false},
      {F::icontiguous, {CallKind::iwrite, CallKind::iwrite_at}, true},
      {F::shared, {CallKind::write_shared}, true},
      {F::ordered, {CallKind::write_ordered}, false}};
  return rows;
}

// As many of the small numbers as of the large ones.
int64_t spread(Rng& rng, int64_t low, int64_t high) {
  const double from = std::log(double(low)), to = std::log(double(high) + 1);
  const double at = from + (to - from) * double(rng.below(1 << 20)) / double(1 << 20);
  return std::clamp(int64_t(std::exp(at)), low, high);
}

// Draws one phase of a program. Every method takes part in the same stream of random numbers.
class PhaseMaker {
 public:
  PhaseMaker(const Program& program, const ProgramFeatures& features, Rng& rng, int index)
      : program_(program), features_(features), rng_(rng), index_(index) {}

  Phase make() {
    threaded_ = features_.has(F::threads) && rng_.chance(35);
    const int calls = int(rng_.between(1, 4)) + (threaded_ ? 1 : 0);
    for (int i = 0; i < calls; ++i) add_call(i);
    deal_out();
    for (size_t view = 0; view < phase_.views.size(); ++view) cut(int(view));
    drop_empty();
    place_ends();
    mark_features();
    return std::move(phase_);
  }

 private:
  int ranks() const { return program_.ranks; }
  const Handle& handle_of(int view) const {
    return program_.handles[size_t(phase_.views[size_t(view)].handle)];
  }

  std::vector<const ClassRow*> choices(bool in_thread) const {
    std::vector<const ClassRow*> out;
    for (const ClassRow& row : classes()) {
      const bool alone = row.feature >= F::strided && row.feature <= F::icontiguous;
      if (features_.has(row.feature) && (alone || !in_thread)) out.push_back(&row);
    }
    return out;
  }

  // The view of a handle that a call goes through: the last one, or one that is set for it.
  int view_for(int handle, int call, bool must_be_flat) {
    int last = -1;
    for (size_t i = 0; i < phase_.views.size(); ++i)
      if (phase_.views[i].handle == handle) last = int(i);
    const bool may_change = features_.has(F::views) && !threaded_;
    const bool fits = last >= 0 && (!must_be_flat || phase_.views[size_t(last)].flat);
    if (fits && !(may_change && rng_.chance(25))) return last;
    if (last >= 0 && !may_change) return -1;
    ProgramView view;
    view.handle = handle;
    view.before = last >= 0 ? call : 0;
    view.flat = must_be_flat || (features_.has(F::flat) && rng_.chance(20));
    view.tiled = rng_.chance(50);
    view.cells.resize(size_t(ranks()));
    phase_.views.push_back(std::move(view));
    return int(phase_.views.size()) - 1;
  }

  void add_call(int index) {
    // The last ones, so that the first thread has something to do.
    const bool in_thread = threaded_ && index > 0 && rng_.chance(60);
    const auto rows = choices(in_thread);
    if (rows.empty()) return;
    // Often a collective call first, since the others then find some of its ranks still in it.
    const bool begins = index == 0 && rng_.chance(50) && rows.front()->feature <= F::icollective;
    const ClassRow& row = begins ? *rows.front() : *rng_.pick(rows);
    // ROMIO's handles on a file share one shared pointer: it names it by file, process and second.
    const bool shared = is_at_shared(row.kinds.front());
    const int handle = shared ? 0 : int(rng_.below(int64_t(program_.handles.size())));
    const int at = int(phase_.calls.size());
    ProgramCall call;
    call.kind = rng_.pick(row.kinds);
    if (in_thread && !has_offset(call.kind)) call.kind = row.kinds[1];
    call.each_cell = row.each_cell;
    call.in_thread = in_thread;
    const size_t views = phase_.views.size();
    call.view = view_for(handle, at, is_at_shared(call.kind));
    if (call.view < 0 || (is_at_shared(call.kind) && any_at_shared(call.view))) {
      phase_.views.resize(views);
      return;
    }
    call.gaps = features_.has(F::gaps) && rng_.chance(20);
    add_parts(call, at);
    phase_.calls.push_back(std::move(call));
  }

  // One such call of a view is enough: which records of two are where nobody would know.
  bool any_at_shared(int view) const {
    return std::any_of(phase_.calls.begin(), phase_.calls.end(), [&](const ProgramCall& other) {
      return other.view == view && is_at_shared(other.kind);
    });
  }

  void add_parts(ProgramCall& call, int at) {
    const bool all = is_collective(call.kind);
    for (const auto& group : handle_of(call.view).groups)
      for (const int rank : group) {
        if (!all && !rng_.chance(65)) continue;
        Part part;
        part.rank = rank;
        part.key = Rng::hash(
            {program_.seed, program_.number, uint64_t(index_), uint64_t(at), uint64_t(rank)});
        if (features_.has(F::late) && rng_.chance(25)) part.late = int(spread(rng_, 5, 2000));
        call.parts.push_back(std::move(part));
      }
  }

  // Cells of the file, to those (view, rank) that write there. Calls at the shared pointer get a
  // part of the file in one piece between them.
  void deal_out() {
    struct Owner {
      int view, rank;
    };
    std::vector<Owner> owners;
    for (size_t view = 0; view < phase_.views.size(); ++view)
      for (int rank = 0; rank < ranks(); ++rank)
        if (shares(int(view), rank) > 0 && !rng_.chance(8)) owners.push_back({int(view), rank});
    rng_.shuffle(owners);
    const size_t writers = owners.size();
    if (features_.has(F::holes) && rng_.chance(60)) {
      const size_t holes = size_t(rng_.between(1, int64_t(writers) + 1));
      owners.insert(owners.end(), holes, Owner{-1, 0});
      if (rng_.chance(50)) rng_.shuffle(owners);
    }
    draw_sizes(int64_t(owners.size()));
    enum { interleaved, blocks, irregular } layout = interleaved;
    if (rng_.chance(20)) layout = blocks;
    if (features_.has(F::unequal) && rng_.chance(25)) layout = irregular;
    int64_t at = rng_.chance(30) ? spread(rng_, 1, 5000) : 0;
    const int64_t records_at = rng_.below(cells_ + 1);
    for (int64_t i = 0; i < cells_; ++i) {
      if (i == records_at) at = place_records(at);
      const int64_t length = unequal_ ? spread(rng_, 1, size_) : size_;
      const auto owner = owners.empty()          ? Owner{-1, 0}
                         : layout == interleaved ? owners[size_t(i) % owners.size()]
                         : layout == blocks ? owners[size_t(i) * owners.size() / size_t(cells_)]
                                            : rng_.pick(owners);
      if (owner.view >= 0)
        phase_.views[size_t(owner.view)].cells[size_t(owner.rank)].push_back({at, length});
      at += length;
    }
    if (records_at == cells_) place_records(at);
  }

  // How many calls of a rank go through a view, at the rank's own offsets.
  int shares(int view, int rank) const {
    int count = 0;
    for (const ProgramCall& call : phase_.calls)
      count += call.view == view && !is_at_shared(call.kind) && call.part_of(rank) != nullptr;
    return count;
  }

  // Large pieces are what ranks write by themselves, and the more of them there are, the longer one
  // rank still writes when another goes on.
  void draw_sizes(int64_t owners) {
    const int64_t kind = rng_.below(10);
    if (kind < 2 && features_.has(F::tiny))
      size_ = spread(rng_, 1, 63);
    else if (kind < 6)
      size_ = spread(rng_, 64, 16383);
    else
      size_ = spread(rng_, 16384, 65536);
    unequal_ = features_.has(F::unequal) && size_ > 1 && rng_.chance(30);
    const int64_t scale = rng_.below(20);
    const int64_t most = scale == 0 ? kMostBytes : scale < 5 ? kMostBytes / 4 : kMostBytes / 32;
    const int64_t room = std::max<int64_t>(1, most / size_);
    cells_ = std::min(spread(rng_, std::max<int64_t>(1, room / 8), room),
                      std::min<int64_t>(4000, 300 * (owners + 1)));
    cells_ = std::max(cells_, owners);
  }

  int64_t place_records(int64_t at) {
    for (size_t i = 0; i < phase_.calls.size(); ++i) {
      ProgramCall& call = phase_.calls[i];
      if (!is_at_shared(call.kind)) continue;
      ProgramView& view = phase_.views[size_t(call.view)];
      // Halves and ranks alone have shared pointers of their own: the first of them gets it all.
      const std::vector<int>& group = handle_of(call.view).groups.front();
      std::erase_if(call.parts, [&](const Part& part) {
        return std::find(group.begin(), group.end(), part.rank) == group.end();
      });
      view.records.at = at;
      const int64_t record = spread(rng_, 32, 16384);
      for (Part& part : call.parts) {
        const int64_t records = call.each_cell ? rng_.between(1, 6) : 1;
        const int64_t length = call.each_cell ? record : spread(rng_, 1, 16384);
        for (int64_t r = 0; r < records; ++r) {
          part.cells.push_back({at, length});
          at += length;
        }
      }
      view.records.length = at - view.records.at;
    }
    return at;
  }

  // Calls of a rank through one view get ranges of it, in an order of the rank's own, so that the
  // ranks are in different calls at one place of the file.
  void cut(int index) {
    ProgramView& view = phase_.views[size_t(index)];
    const bool same_order = rng_.chance(30);
    for (int rank = 0; rank < ranks(); ++rank) {
      std::vector<Piece>& cells = view.cells[size_t(rank)];
      std::vector<Part*> parts;
      for (ProgramCall& call : phase_.calls)
        for (Part& part : call.parts)
          if (call.view == index && part.rank == rank && !is_at_shared(call.kind))
            parts.push_back(&part);
      if (parts.empty()) continue;
      if (!same_order) rng_.shuffle(parts);
      std::vector<size_t> ends;
      for (size_t i = 1; i < parts.size(); ++i)
        ends.push_back(size_t(rng_.below(int64_t(cells.size()) + 1)));
      ends.push_back(cells.size());
      std::sort(ends.begin(), ends.end());
      int64_t first = 0;
      for (size_t i = 0, cell = 0; i < parts.size(); ++i) {
        parts[i]->first = first;
        for (; cell < ends[i]; ++cell) {
          parts[i]->cells.push_back(cells[cell]);
          first += cells[cell].length;
        }
      }
    }
    if (view.flat) flatten(index);
  }

  // Through the view of bytes one call writes one piece.
  void flatten(int index) {
    for (ProgramCall& call : phase_.calls) {
      if (call.view != index || is_at_shared(call.kind)) continue;
      for (Part& part : call.parts) {
        size_t kept = call.each_cell ? part.cells.size() : 0;
        for (size_t i = 0; i < part.cells.size() && !call.each_cell; ++i)
          if (i == 0 || part.cells[i].at == part.cells[i - 1].at + part.cells[i - 1].length)
            kept = i + 1;
          else
            break;
        part.cells.resize(kept);
        part.first = kept ? part.cells.front().at : 0;
      }
    }
  }

  // Independent calls with nothing to do are no calls. Collective ones are, with nothing.
  void drop_empty() {
    for (ProgramCall& call : phase_.calls)
      if (!is_collective(call.kind))
        std::erase_if(call.parts, [](const Part& part) { return part.cells.empty(); });
    for (const ProgramCall& call : phase_.calls)
      for (const Part& part : call.parts)
        for (const Piece& cell : part.cells)
          phase_.end = std::max(phase_.end, cell.at + cell.length);
  }

  // The call before which something of this call's handle must be over: the handle's next view,
  // and for split collectives the next collective call too.
  int limit(int from) const {
    const ProgramCall& call = phase_.calls[size_t(from)];
    const int handle = phase_.views[size_t(call.view)].handle;
    for (int i = from + 1; i < int(phase_.calls.size()); ++i) {
      const ProgramCall& other = phase_.calls[size_t(i)];
      const bool same = phase_.views[size_t(other.view)].handle == handle;
      if (same && other.view != call.view) return i;
      if (same && is_split(call.kind) && is_collective(other.kind)) return i;
    }
    return int(phase_.calls.size());
  }

  void place_ends() {
    for (int i = 0; i < int(phase_.calls.size()); ++i) {
      ProgramCall& call = phase_.calls[size_t(i)];
      const int last = limit(i) - 1;
      call.end_after = int(rng_.between(i, last));
      const int together = int(rng_.between(i, last));
      const bool apart = !is_collective(call.kind) || (features_.has(F::waits) && rng_.chance(50));
      for (Part& part : call.parts) part.wait_after = apart ? int(rng_.between(i, last)) : together;
    }
  }

  void mark(F feature, bool present = true) {
    if (present) phase_.features.set(size_t(feature));
  }

  static bool has_hint(const Handle& handle, const char* key, const char* value) {
    return std::find(handle.hints.begin(), handle.hints.end(),
                     std::pair<std::string, std::string>(key, value)) != handle.hints.end();
  }

  // Of the library's accesses: whether they sieve, and what of them is one piece. A collective
  // access of a rank that opened the file alone is such a one.
  void mark_own_access(const ProgramCall& call) {
    const Handle& handle = handle_of(call.view);
    const bool at_once = !is_nonblocking(call.kind);
    for (const Part& part : call.parts) {
      const bool lone = handle.group_of(part.rank).size() == 1;
      if (part.cells.empty() || (is_collective(call.kind) && !lone)) continue;
      if (call.each_cell || part.cells.size() == 1 || phase_.views[size_t(call.view)].flat)
        mark(at_once ? F::contiguous : F::icontiguous);
      else if (is_collective(call.kind) && has_hint(handle, "romio_cb_write", "enable"))
        mark(F::unlocked);
      else if (has_hint(handle, "romio_ds_write", "disable"))
        mark(F::bare);
      else
        mark(at_once ? F::strided : F::istrided);
    }
  }

  void mark_features() {
    for (const ProgramCall& call : phase_.calls) {
      for (const ClassRow& row : classes()) {
        const bool own = row.feature >= F::strided && row.feature <= F::icontiguous;
        if (!own && std::find(row.kinds.begin(), row.kinds.end(), call.kind) != row.kinds.end())
          mark(row.feature);
      }
      if (call.kind != CallKind::write_shared) mark_own_access(call);
      mark(F::threads, call.in_thread);
      for (const Part& part : call.parts)
        mark(F::waits, is_collective(call.kind) && is_nonblocking(call.kind) &&
                           part.wait_after != call.parts.front().wait_after);
      mark(F::gaps, call.gaps);
      mark(F(int(F::world) + int(handle_of(call.view).over)));
      mark(F::hints, !handle_of(call.view).hints.empty());
      mark(F::flat, phase_.views[size_t(call.view)].flat);
    }
    for (const ProgramView& view : phase_.views) mark(F::views, view.before > 0);
    mark(F::unequal, unequal_);
    mark(F::tiny, size_ < 64);
  }

  const Program& program_;
  const ProgramFeatures& features_;
  Rng& rng_;
  int index_;
  bool threaded_ = false, unequal_ = false;
  int64_t size_ = 1, cells_ = 1;
  Phase phase_;
};

std::vector<std::pair<std::string, std::string>> draw_hints(Rng& rng, const Handle& handle,
                                                            const ProgramFeatures& features) {
  std::vector<std::pair<std::string, std::string>> hints;
  const auto maybe = [&](const char* key, const std::vector<std::string>& values) {
    if (rng.chance(40)) hints.emplace_back(key, rng.pick(values));
  };
  const bool lone = std::any_of(handle.groups.begin(), handle.groups.end(),
                                [](const auto& group) { return group.size() == 1; });
  const std::vector<std::string> on{"enable"}, off{"disable"}, either{"enable", "disable"};
  maybe("romio_ds_write", features.has(F::bare) ? either : on);
  maybe("romio_cb_write", lone && !features.has(F::unlocked) ? off : either);
  maybe("cb_buffer_size", {"4096", "65536", "1048576"});
  maybe("ind_wr_buffer_size", {"4096", "65536", "16777216"});
  maybe("cb_nodes", {"1", "2"});
  return hints;
}

Handle draw_handle(Rng& rng, int ranks, Handle::Over over) {
  Handle handle;
  handle.over = over;
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  if (over == Handle::Over::world || over == Handle::Over::twin) {
    handle.groups = {all};
  } else if (over == Handle::Over::halves) {
    handle.groups.resize(2);
    for (int rank : all) handle.groups[size_t(rank % 2)].push_back(rank);
  } else {
    for (int rank : all)
      if (rng.chance(50)) handle.groups.push_back({rank});
    if (handle.groups.empty()) handle.groups.push_back({int(rng.below(ranks))});
  }
  return handle;
}

std::vector<Handle> draw_handles(Rng& rng, int ranks, const ProgramFeatures& features) {
  std::vector<Handle::Over> overs;
  for (int over = 0; over < 4; ++over)
    if (features.has(F(int(F::world) + over))) overs.push_back(Handle::Over(over));
  if (overs.empty()) overs.push_back(Handle::Over::world);
  std::vector<Handle> handles;
  const int64_t count = rng.chance(50) ? 1 : rng.between(2, 3);
  for (int64_t i = 0; i < count; ++i) {
    const bool first = i == 0 && overs.front() == Handle::Over::world && rng.chance(80);
    handles.push_back(draw_handle(rng, ranks, first ? overs.front() : rng.pick(overs)));
    if (features.has(F::hints) && rng.chance(20))
      handles.back().hints = draw_hints(rng, handles.back(), features);
  }
  return handles;
}

}  // namespace

Program make_program(uint64_t seed, uint64_t number, int ranks, const ProgramFeatures& features) {
  Program program;
  program.seed = seed;
  program.number = number;
  program.ranks = ranks;
  program.before_key = Rng::hash({seed, number, 77});
  Rng rng({seed, number, uint64_t(ranks)});
  program.handles = draw_handles(rng, ranks, features);
  program.slow_percent.resize(size_t(ranks));
  if (features.has(F::slow) && rng.chance(75)) {
    for (int& percent : program.slow_percent) percent = rng.pick(std::vector<int>{0, 5, 60});
    program.slow_longest = int(spread(rng, 50, 1000));
  }
  const int64_t phases = rng.chance(60) ? 1 : rng.between(2, 3);
  for (int64_t i = 0; i < phases; ++i) {
    // What may not be together is rare enough to draw again.
    for (int attempt = 0; attempt < 200; ++attempt) {
      Phase phase = PhaseMaker(program, features, rng, int(i)).make();
      if (phase.calls.empty() || !features.allows(phase.features)) continue;
      program.phases.push_back(std::move(phase));
      break;
    }
  }
  int64_t end = 0;
  for (const Phase& phase : program.phases) end = std::max(end, phase.end);
  program.before_bytes = end + rng.below(1000);
  if (features.has(F::growing) && rng.chance(35)) program.before_bytes = rng.below(end + 1);
  if (features.has(F::growing) && rng.chance(15)) program.before_bytes = 0;
  return program;
}

}  // namespace oracle
