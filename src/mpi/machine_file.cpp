#include "mpi/machine_file.h"

#include "base/os.h"
#include "mpi/shared_text.h"

namespace haichi::mpi {
namespace {

/// Empty if it cannot be read, with a note.
std::string text_of(CommState& state, const std::string& path) {
  auto text = read_file(path);
  if (text) return std::move(*text);
  state.runtime.note(fmt::format("collectives do not know the machine: {}", text.error().text));
  return "";
}

}  // namespace

void read_machine(CommState& state) {
  const std::string& path = state.runtime.settings.text("machine");
  if (path.empty()) return;
  const std::string text =
      shared_text(state.own, state.rank == 0 ? text_of(state, path) : std::string());
  if (text.empty()) return;
  const auto machine = machine::parse_machine(text);
  const Status fine =
      machine ? state.predict_by(*machine) : Status(tl::unexpected(machine.error()));
  if (!fine && state.rank == 0)
    state.runtime.note(
        fmt::format("collectives do not know the machine: {}: {}", path, fine.error().text));
}

}  // namespace haichi::mpi
