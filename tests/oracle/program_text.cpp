// A program in words, for the dump of a failed one.
#include "oracle/program_plan.h"

namespace oracle {
namespace {

std::string to_text(const Handle& handle) {
  static const char* const names[] = {"MPI_COMM_WORLD", "a duplicate of MPI_COMM_WORLD",
                                      "halves (even and odd ranks)", "MPI_COMM_SELF of ranks"};
  std::string out = names[int(handle.over)];
  if (handle.over == Handle::Over::alone)
    for (const auto& group : handle.groups) out += " " + std::to_string(group.front());
  for (const auto& [key, value] : handle.hints) out += " " + key + "=" + value;
  return out;
}

std::string to_text(const std::vector<Piece>& cells) {
  int64_t bytes = 0, least = cells.empty() ? 0 : cells.front().length, most = 0;
  for (const Piece& cell : cells) {
    bytes += cell.length;
    least = std::min(least, cell.length);
    most = std::max(most, cell.length);
  }
  std::string out = std::to_string(cells.size()) + " cells of " + std::to_string(least);
  if (least != most) out += " to " + std::to_string(most);
  out += " bytes, at";
  for (size_t i = 0; i < cells.size() && i < 4; ++i) out += " " + std::to_string(cells[i].at);
  if (cells.size() > 4) out += " ... " + std::to_string(cells.back().at);
  return out;
}

std::string to_text(const ProgramView& view) {
  std::string out = "view of handle " + std::to_string(view.handle);
  if (view.flat) return out + ": bytes of the file";
  return out + ": the rank's cells" + (view.tiled ? ", as tiles if regular" : "");
}

}  // namespace

std::string to_text(const Program&, const Phase& phase, int index) {
  const ProgramCall& call = phase.calls[size_t(index)];
  const ProgramView& view = phase.views[size_t(call.view)];
  std::string out = "call " + std::to_string(index) + " " + name_of(call.kind) + " handle " +
                    std::to_string(view.handle);
  if (call.each_cell) out += ", one for each cell";
  if (call.gaps) out += ", gaps in memory";
  if (call.in_thread) out += ", by a second thread";
  if (is_split(call.kind)) out += ", ended behind call " + std::to_string(call.end_after);
  for (const Part& part : call.parts) {
    out += "\n      rank " + std::to_string(part.rank) + ": ";
    out += part.cells.empty() ? "nothing" : to_text(part.cells);
    if (part.late) out += ", " + std::to_string(part.late) + " us late";
    if (is_nonblocking(call.kind)) out += ", waits behind call " + std::to_string(part.wait_after);
  }
  return out;
}

std::string to_text(const Program& program) {
  std::string out = "program " + std::to_string(program.number) + " of seed " +
                    std::to_string(program.seed) + ": " + std::to_string(program.ranks) +
                    " ranks, file of " + std::to_string(program.before_bytes) + " bytes\n";
  if (program.slow_longest) {
    out += "  system calls that sleep up to " + std::to_string(program.slow_longest) + " us:";
    for (const int percent : program.slow_percent) out += " " + std::to_string(percent) + " %";
    out += " of ranks 0, 1, ...\n";
  }
  for (size_t i = 0; i < program.handles.size(); ++i)
    out += "  handle " + std::to_string(i) + ": " + to_text(program.handles[i]) + "\n";
  for (size_t p = 0; p < program.phases.size(); ++p) {
    const Phase& phase = program.phases[p];
    out += "  phase " + std::to_string(p) + "\n";
    for (size_t v = 0; v < phase.views.size(); ++v)
      if (phase.views[v].before == 0) out += "    " + to_text(phase.views[v]) + "\n";
    for (size_t c = 0; c < phase.calls.size(); ++c) {
      for (const ProgramView& view : phase.views)
        if (view.before == int(c) && c > 0) out += "    " + to_text(view) + "\n";
      out += "    " + to_text(program, phase, int(c)) + "\n";
    }
  }
  return out;
}

}  // namespace oracle
