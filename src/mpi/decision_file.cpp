#include "mpi/decision_file.h"

#include <errno.h>
#include <unistd.h>

#include "base/os.h"
#include "mpi/library_version.h"
#include "mpi/shared_text.h"

namespace haichi::mpi {
namespace {

using collectives::DecidedFor;
using collectives::Decision;

// Larger files are none of ours.
constexpr int64_t kMostBytes = 1 << 20;

DecidedFor whom(const CommState& state) {
  return {library_version(), collectives::signature_of(state.placement)};
}

std::string path_of(const std::string& folder, const DecidedFor& whom) {
  return fmt::format("{}/{}-{}.json", folder, kAbi, whom.placement);
}

/// The text of the file; empty if there is none or it is unusable.
std::string usable_text(CommState& state, const std::string& path, const DecidedFor& whom) {
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
  state.runtime.note(
      fmt::format("decisions of earlier runs are ignored: {}: {}", path, fine.error().text));
  return "";
}

}  // namespace

void read_decisions(CommState& state) {
  const std::string& folder = state.runtime.settings.text("collectives.decisions");
  if (folder.empty()) return;
  const DecidedFor here = whom(state);
  const std::string text = shared_text(
      state.own, state.rank == 0 ? usable_text(state, path_of(folder, here), here) : std::string());
  if (text.empty()) return;
  // What rank 0 found usable, every rank does: the text is the same.
  if (auto decisions = parse_decisions(text, here)) state.start_with(std::move(*decisions));
}

void write_decisions(const CommState& state) {
  const std::string& folder = state.runtime.settings.text("collectives.decisions");
  const std::vector<Decision> now = state.decided();
  if (folder.empty() || state.rank != 0 || now.empty()) return;
  const DecidedFor here = whom(state);
  const std::string path = path_of(folder, here);
  std::vector<Decision> old;
  if (const auto text = read_file(path))
    if (auto known = parse_decisions(*text, here)) old = std::move(*known);
  const auto written =
      write_file_atomically(path, decisions_text(here, joined(std::move(old), now)));
  if (!written) state.runtime.note(fmt::format("decisions are not kept: {}", written.error().text));
}

}  // namespace haichi::mpi
