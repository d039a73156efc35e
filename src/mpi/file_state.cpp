#include "mpi/file_state.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/os.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/compat/library_file_io.h"
#include "mpi/hints.h"
#include "mpiio/node_streams.h"
#include "mpiio/options.h"

namespace haichi::mpi {
namespace {

// Where memory is short, collective buffers shrink down to this; below, calls are passed through.
constexpr int64_t kSmallestWindow = 64 << 10;

/// Where something of any type may begin.
int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

std::optional<std::string> posix_path(std::string_view filename) {
  constexpr std::string_view kPosixDrivers[] = {"ufs:", "lustre:", "xfs:"};
  for (std::string_view prefix : kPosixDrivers)
    if (filename.starts_with(prefix)) return std::string(filename.substr(prefix.size()));
  // ROMIO's rule: a driver's name stands before the first colon; a slash before it is a path.
  const size_t colon = filename.find(':'), slash = filename.find('/');
  if (colon != filename.npos && colon > 1 && (slash == filename.npos || colon < slash))
    return std::nullopt;
  return std::string(filename);
}

FileState::FileState(std::shared_ptr<FileGroup> of, std::string path_, int amode_)
    : group(std::move(of)),
      runtime(group->runtime),
      comm(group->comm),
      path(std::move(path_)),
      amode(amode_),
      rank(group->rank),
      placement(group->placement),
      world_rank(group->ranks->world_rank),
      view(group->views_unasked),
      settings_(runtime.settings),
      descriptor_(path, amode) {
  record.path = path;
}

FileState::~FileState() { NodeMemory::keep(std::move(node_memory_)); }

void FileState::take_hints(MPI_Info info) {
  aggregators_.ranks.clear();
  for (const auto& [key, value] : hints_of(info)) {
    if (const auto each = ranks_of_each_node(value); key == "cb_config_list" && each) {
      (void)settings_.set("io.per_node", std::to_string(*each), "hint");
      continue;
    }
    const auto known = std::find_if(std::begin(kSettings), std::end(kSettings),
                                    [&](const Setting& s) { return s.hint == key; });
    if (known == std::end(kSettings)) {
      auto& ignored = record.ignored_hints;
      const std::string hint = key + "=" + value;
      if (is_unserved_hint(key) && std::find(ignored.begin(), ignored.end(), hint) == ignored.end())
        ignored.push_back(hint);
      continue;
    }
    // A program may hand on all hints of another file, which asks for nothing.
    if (settings_.text(*known) == value) continue;
    if (auto done = settings_.set(known->key, value, "hint"); !done)
      runtime.note(fmt::format("{}: hint {}", path, done.error().text));
  }
}

void FileState::forget_refusals() {
  for (mpiio::Doze& each : refused) each.wake();
}

void FileState::complete_record() {
  const report::Flattening views = view.flattening();
  record.flattening.note_view(views.view_blocks, views.view_bytes);
  for (const Setting& row : kSettings)
    if (!row.hint.empty()) record.hints[std::string(row.hint)] = settings_.text(row);
  if (const std::string list = config_list(); !list.empty()) record.hints["cb_config_list"] = list;
}

/// The limit of each node as ROMIO has it; empty if there is none.
std::string FileState::config_list() const {
  const int64_t each = settings_.number("io.per_node");
  return each > 0 ? fmt::format("*:{}", each) : "";
}

std::optional<Striping> FileState::striping() {
  if (agreed_ || !has_descriptor()) return std::nullopt;
  return lustre_striping(descriptor_.get());
}

void FileState::take_agreed(bool all_off, const Striping& striping) {
  if (agreed_) return;
  agreed_ = true;
  handed_back = all_off;
  if (all_off)
    runtime.note(fmt::format("{}: handed back to the MPI library: io.enable is off", path));
  if (striping.unit > 0) take_striping(striping);
}

void FileState::take_striping(const Striping& striping) {
  auto take = [&](SettingKey key, int64_t value) {
    if (settings_.source(key) != "environment")
      (void)settings_.set(key.row().key, std::to_string(value), "file system");
  };
  take("io.stripe_unit", striping.unit);
  take("io.stripes", striping.count);
  aggregators_.ranks.clear();
}

void FileState::give_hints(MPI_Info info) const {
  for (const Setting& row : kSettings) {
    if (row.hint.empty()) continue;
    std::string value = settings_.text(row);
    if (row.key == "io.aggregators")
      value = std::to_string(mpiio::aggregators_for(placement, options()).ranks.size());
    if (row.kind == Setting::Kind::bytes || row.kind == Setting::Kind::bytes_or_none)
      value = std::to_string(settings_.number(NumberKey(row)));
    if (row.key == "io.buffer") value = std::to_string(options().buffer);
    // A stripe size or count of 0 means "not given": then the key is not there, as without haichi.
    if (value == "0" && row.hint.starts_with("striping")) continue;
    real().Info_set(info, std::string(row.hint).c_str(), value.c_str());
  }
  if (const std::string list = config_list(); !list.empty())
    real().Info_set(info, "cb_config_list", list.c_str());
}

void FileState::note_writer() {
  if (!runtime.threads_may_write) return;
  static thread_local const char token = 0;
  const void* nobody = nullptr;
  if (writer_.compare_exchange_strong(nobody, &token) || nobody == &token) return;
  const std::lock_guard guard(mutex);
  if (second_writer_ || !has_descriptor()) return;
  second_writer_ = Presence::enter(fmt::format("/proc/self/fd/{}", descriptor_.get()).c_str());
}

bool FileState::must_wait_in_library() const {
  return runtime.threads_may_write && library_file_io().locks_files;
}

Turn FileState::take_turn() {
  if (!must_wait_in_library()) return {};
  return {shared_from_this(), turn_};
}

void FileState::note_memory(const mpiio::Pattern& pattern) {
  const std::lock_guard guard(mutex);
  record.flattening.note_memory(pattern.blocks(), pattern.footprint());
}

void FileState::note_others(int64_t bytes) {
  const std::lock_guard guard(mutex);
  record.flattening.others_bytes = std::max(record.flattening.others_bytes, bytes);
}

mpiio::TwoPhaseOptions FileState::options() const {
  mpiio::TwoPhaseOptions options = mpiio::options_of(settings_, placement);
  options.machine = runtime.machine ? &*runtime.machine : nullptr;
  // Who waits for memory to change has to poll the library meanwhile.
  options.may_share = options.may_share && !must_wait_in_library();
  return options;
}

mpiio::Holes FileState::holes() const { return mpiio::holes_of(settings_); }

bool FileState::wants_tuning() const {
  return settings_.text("io.tune") == "on" && placement.nodes() > 1 &&
         settings_.source("io.order") == "default" && settings_.source("io.window") == "default";
}

const plan::Aggregators& FileState::aggregators() {
  if (aggregators_.ranks.empty()) aggregators_ = mpiio::aggregators_for(placement, options());
  return aggregators_;
}

bool FileState::is_aggregator() {
  const std::vector<int>& ranks = aggregator_ranks();
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

int64_t FileState::affordable_window(int64_t bytes, int64_t asked) {
  const bool aggregator = is_aggregator();
  for (int64_t window = asked;; window /= 2) {
    if (aggregator && own_capacity_ < window) {
      own_memory_.reset();
      own_memory_.reset(new (std::nothrow) std::byte[size_t(window)]);
      own_capacity_ = own_memory_ ? window : 0;
    }
    // Messages that are packed or wait to be unpacked take no more than this; asked for and given
    // back untouched, which costs two system calls.
    const int64_t packed = std::min(bytes, window) + (aggregator ? window : 0);
    const std::unique_ptr<std::byte[]> room(new (std::nothrow) std::byte[size_t(packed)]);
    if (room && (!aggregator || own_memory_)) return window;
    if (window < 2 * kSmallestWindow) return 0;
    own_memory_.reset();
    own_capacity_ = 0;
  }
}

FileState::Windows FileState::windows(const mpiio::TwoPhasePlan& plan,
                                      const mpiio::NodeStreams& node_streams) {
  Windows result;
  const std::vector<int>& all = plan.aggregators.ranks;
  result.of_aggregator.resize(all.size());
  std::vector<int> here;  // indices of the aggregators on this rank's node
  for (size_t a = 0; a < all.size(); ++a) {
    if (placement.same_node(all[a], rank)) here.push_back(int(a));
    if (all[a] == rank) result.of_aggregator[a] = own_memory();
  }
  const int64_t windows = aligned(int64_t(here.size()) * plan.windows * plan.window_bytes);
  const int64_t streams = node_streams.memory_of(placement.node_of(rank));
  if (plan.shares) share_with_node(size_t(windows + streams));
  result.streaming = agree_on_streams(plan, streams == 0 || node_memory_);
  if (!plan.shares || !node_memory_ || (here.empty() && !result.streaming)) return result;
  result.meeting = node_memory_.get();
  result.streams = node_memory_->data() + windows;
  for (size_t i = 0; i < here.size(); ++i)
    result.of_aggregator[size_t(here[i])] =
        node_memory_->data() + int64_t(i) * plan.windows * plan.window_bytes;
  return result;
}

// The answer holds as long as the same is asked of every node's memory: what a node has got it
// keeps.
bool FileState::agree_on_streams(const mpiio::TwoPhasePlan& plan, bool mine) {
  MemoryAsked asked{plan.window_bytes, plan.stream_part, plan.shares, plan.aggregators.ranks};
  if (memory_asked_ == asked) return streams_agreed_;
  memory_asked_ = std::move(asked);
  streams_agreed_ = false;
  if (plan.stream_part == 0) return false;
  const int64_t have = mine;
  int64_t all = 0;
  streams_agreed_ =
      real().Allreduce(&have, &all, 1, handles().int64, handles().op_min, comm) == MPI_SUCCESS &&
      all == 1;
  return streams_agreed_;
}

void FileState::share_with_node(size_t bytes) {
  const bool alone = placement.ranks_on(placement.node_of(rank)).size() < 2;
  if (bytes == 0 || alone || node_memory_refused_ ||
      (node_memory_ && node_memory_->size() >= bytes))
    return;
  node_memory_.reset();
  auto made = NodeMemory::make(comm, placement, rank, bytes);
  if (made) {
    node_memory_ = std::move(*made);
    return;
  }
  node_memory_refused_ = true;
  runtime.note(fmt::format("{}: {}; they send messages", path, made.error().text));
}

bool FileState::has_descriptor() {
  if (descriptor_.get() >= 0) return true;
  if (!descriptor_refused_.exchange(true))
    runtime.note(fmt::format("{}: passed through: {}", path, descriptor_.refusal()));
  return false;
}

mpiio::AggregatorFile FileState::aggregator_file() {
  return {.os = &real_os(),
          .fd = descriptor_.get(),
          .readable = descriptor_.readable(),
          .lock_writes = library_file_io().locks_holes,
          .patience = &patience_};
}

std::string FileState::settings_refusal(mpiio::Direction direction) const {
  const bool writing = direction == mpiio::Direction::write;
  if (switched_off()) return "switched off by io.enable";
  if ((writing ? settings_.text("io.write") : settings_.text("io.read")) == "disable")
    return writing ? "romio_cb_write is disable" : "romio_cb_read is disable";
  return "";
}

std::string FileState::common_refusal(mpiio::Direction direction) const {
  const bool writing = direction == mpiio::Direction::write;
  if (const std::string& other = view.converted_by(); !other.empty())
    return fmt::format("data representation {} is converted by the MPI library", other);
  if (amode & MPI_MODE_SEQUENTIAL) return "the file was opened with MPI_MODE_SEQUENTIAL";
  if ((writing && (amode & MPI_MODE_RDONLY)) || (!writing && (amode & MPI_MODE_WRONLY)))
    return "the access mode does not allow the access";
  return "";
}

FileTable& FileTable::get() {
  static FileTable* const table = new FileTable;  // never destroyed: hooks may run very late
  return *table;
}

void FileTable::add(MPI_File file, std::shared_ptr<FileState> state,
                    std::unique_ptr<Presence> presence) {
  if (!state && !presence) return;
  const std::lock_guard guard(mutex_);
  files_[file] = {std::move(state), std::move(presence)};
}

std::shared_ptr<FileState> FileTable::find(MPI_File file) {
  const std::lock_guard guard(mutex_);
  const auto found = files_.find(file);
  return found == files_.end() ? nullptr : found->second.state;
}

std::shared_ptr<FileState> FileTable::remove(MPI_File file) {
  const std::lock_guard guard(mutex_);
  auto node = files_.extract(file);
  return node.empty() ? nullptr : std::move(node.mapped().state);
}

}  // namespace haichi::mpi
