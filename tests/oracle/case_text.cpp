// The readable form of a case, for the dump of a failed one.
#include "oracle/case_plan.h"

namespace oracle {
namespace {

const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::create_rdwr:
      return "CREATE|RDWR";
    case Mode::create_wronly:
      return "CREATE|WRONLY";
    case Mode::rdwr:
      return "RDWR";
    case Mode::wronly:
      return "WRONLY";
    case Mode::rdonly:
      return "RDONLY";
  }
  return "";
}

}  // namespace

std::string to_text(const Plan& plan) {
  std::string out = "case " + std::to_string(plan.number) + " of seed " +
                    std::to_string(plan.seed) + ": " + std::to_string(plan.ranks()) + " ranks {";
  for (size_t i = 0; i < plan.members.size(); ++i)
    out += (i ? "," : "") + std::to_string(plan.members[i]);
  out += "} of the world, " + std::string(name_of(plan.mode)) + ", file from " +
         std::to_string(plan.base) + " with " + std::to_string(plan.prefill_bytes) +
         " bytes\n  hints:";
  for (const auto& [key, value] : plan.hints) out += " " + key + "=" + value;
  out += "\n  steps:";
  for (const Step& step : plan.steps)
    out += " " + std::to_string(step.id) + ":" + oracle::name_of(step.kind);
  return out + "\n";
}

std::string to_text(const Step& step, const View& view) {
  return std::to_string(step.id) + ":set_view displacement " + std::to_string(view.displacement) +
         " etype " + to_text(*view.etype) + " filetype " + to_text(*view.filetype);
}

std::string to_text(const Step& step, const Call& call) {
  return std::to_string(step.id) + ":" + oracle::name_of(step.kind) + " at etype " +
         std::to_string(call.offset) + " count " + std::to_string(call.count) + " of " +
         to_text(*call.type) + (call.bottom ? " through MPI_BOTTOM" : "") +
         (call.ignore_status ? ", status ignored" : "");
}

std::string to_text(const Seek& seek) {
  static const char* const names[] = {"SET", "CUR", "END"};
  return "seek " + std::to_string(seek.offset) + " from " + names[int(seek.whence)];
}

}  // namespace oracle
