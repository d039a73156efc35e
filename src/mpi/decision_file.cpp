#include "mpi/decision_file.h"

#include <errno.h>
#include <unistd.h>

#include <mutex>

#include "base/os.h"
#include "mpi/library_version.h"
#include "mpi/shared_text.h"

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

/// The text of the file; empty if there is none or it is unusable.
std::string usable_text(Runtime& runtime, const std::string& path, const DecidedFor& whom) {
  auto text = read_file(path);
  if (!text && text.error().code == ENOENT) return "";
  Status fine;
  if (!text)
    fine = tl::unexpected(text.error());
  else if (int64_t(text->size()) > kMostBytes)
    fine = fail(EINVAL, "it is too large");
  else if (const auto decisions = parse_decisions(*text, whom); !decisions)
    fine = tl::unexpected(decisions.error());
  if (fine) return std::move(*text);
  runtime.note(
      fmt::format("decisions of earlier runs are ignored: {}: {}", path, fine.error().text));
  return "";
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
  std::vector<Decision> old;
  if (const auto text = read_file(path))
    if (auto known = parse_decisions(*text, here)) old = std::move(*known);
  const auto written =
      write_file_atomically(path, decisions_text(here, joined(std::move(old), decided)));
  if (!written) runtime.note(fmt::format("decisions are not kept: {}", written.error().text));
}

}  // namespace haichi::mpi
