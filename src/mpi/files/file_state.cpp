#include "mpi/files/file_state.h"

#include <algorithm>
#include <utility>

#include "base/os.h"
#include "mpi/compat/library_file_io.h"

namespace haichi::mpi {

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
      options(runtime, placement),
      memory(comm, placement, rank),
      descriptor_(path, amode) {
  record.path = path;
}

void FileState::take_hints(MPI_Info info) {
  options.take_hints(info, record.ignored_hints, [&](const std::string& wrong) {
    runtime.note(fmt::format("{}: hint {}", path, wrong));
  });
}

void FileState::forget_refusals() {
  for (mpiio::Doze& each : refused) each.wake();
}

void FileState::complete_record() {
  const report::Flattening views = view.flattening();
  record.flattening.note_view(views.view_blocks, views.view_bytes);
  record.hints = options.hints();
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
  if (striping.unit > 0) options.take_striping(striping);
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

Turn FileState::take_turn() {
  if (!must_wait_in_library(runtime)) return {};
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
          .backoff = &backoff_};
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

}  // namespace haichi::mpi
