#include "mpi/tuning/decision_file.h"

#include <errno.h>
#include <unistd.h>

#include <mutex>

#include "base/os.h"
#include "mpi/compat/library_version.h"
#include "mpi/job/shared_text.h"

namespace haichi::mpi {
namespace {

using collectives::DecidedFor;
using collectives::Decision;

// Larger files are none of ours.
constexpr int64_t kMostBytes = 1 << 20;

DecidedFor whom(const placement::Placement& placement) {
  return {library_version(), collectives::signature_of(placement)};
}

std::string path_of(const std::string& folder, const DecidedFor& whom) {
  return fmt::format("{}/{}-{}.json", folder, kAbi, whom.placement);
}

// How long a rank waits, at the end of its job, for other jobs that write there. Once: somebody who
// never lets go would cost every communicator as much.
constexpr int kPatienceMs = 5000;
// Where nothing can be locked: how often a job looks whether another's file took the place of its.
constexpr int kAttempts = 4;

/// The text of the file. Somebody else's link there is not followed, nothing there is waited for.
Result<std::string> text_of(const std::string& path) {
  return read_file(path, kMostBytes, O_NOFOLLOW, nullptr);
}

/// The text of the file; empty if there is none or it is unusable.
std::string usable_text(Runtime& runtime, const std::string& path, const DecidedFor& whom) {
  auto text = text_of(path);
  if (!text && text.error().code == ENOENT) return "";
  Status fine;
  if (!text)
    fine = tl::unexpected(text.error());
  else if (const auto decisions = parse_decisions(*text, whom); !decisions)
    fine = tl::unexpected(decisions.error());
  if (fine) return std::move(*text);
  runtime.note(
      fmt::format("decisions of earlier runs are ignored: {}: {}", path, fine.error().text));
  return "";
}

/// Joins what the file says with what this job decided, and replaces it. What is there and is no
/// file that haichi reads stays: it is not haichi's. The text of the file afterwards.
Result<std::string> join_to_file(const std::string& path, const DecidedFor& whom,
                                 const std::vector<Decision>& decided) {
  std::vector<Decision> old;
  const auto text = text_of(path);
  if (!text && text.error().code != ENOENT) return text;
  if (text)
    if (auto known = parse_decisions(*text, whom)) old = std::move(*known);
  const std::string joint = decisions_text(whom, joined(std::move(old), decided));
  if (text && *text == joint) return joint;
  if (auto written = write_file_atomically(path, joint); !written)
    return tl::unexpected(written.error());
  return joint;
}

/// Jobs that end together each read, join and replace: one after the other, so that none loses
/// what another wrote. Threads call it one after the other.
Status keep(const std::string& folder, const std::string& path, const DecidedFor& whom,
            const std::vector<Decision>& decided) {
  static int patience_ms = kPatienceMs;
  // Without a lock the file is written all the same: a decision that is lost is only found again.
  const auto lock = FolderLock::take(folder, patience_ms);
  if (!lock && lock.error().code == ETIMEDOUT) patience_ms = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto written = join_to_file(path, whom, decided);
    if (!written) return tl::unexpected(written.error());
    if (lock) break;
    // Some other job may be about to replace it. Unequal waits, so that not all look at once.
    usleep(useconds_t(1000 + getpid() % 97 * 100) << attempt);
    if (const auto there = text_of(path); there && *there == *written) break;
  }
  return {};
}

}  // namespace

std::vector<Decision> read_decisions(Runtime& runtime, MPI_Comm comm,
                                     const placement::Placement& placement, int rank) {
  const std::string& folder = runtime.settings.text("collectives.decisions");
  if (folder.empty()) return {};
  const DecidedFor here = whom(placement);
  const std::string text = shared_text(
      comm, rank == 0 ? usable_text(runtime, path_of(folder, here), here) : std::string());
  if (text.empty()) return {};
  // What rank 0 found usable, every rank does: the text is the same.
  return parse_decisions(text, here).value_or(std::vector<Decision>());
}

void write_decisions(Runtime& runtime, const placement::Placement& placement,
                     const std::vector<Decision>& decided) {
  const std::string& folder = runtime.settings.text("collectives.decisions");
  if (folder.empty() || decided.empty()) return;
  const DecidedFor here = whom(placement);
  const std::string path = path_of(folder, here);
  static std::mutex mutex;  // threads may free communicators of the same ranks at the same time
  const std::lock_guard guard(mutex);
  const auto written = keep(folder, path, here, decided);
  if (!written) runtime.note(fmt::format("decisions are not kept: {}", written.error().text));
}

}  // namespace haichi::mpi
