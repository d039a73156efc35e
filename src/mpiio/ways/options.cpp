#include "mpiio/ways/options.h"

#include <algorithm>

namespace haichi::mpiio {
namespace {

// The collective buffer that nobody asked for: large enough for messages that carry their overhead,
// small enough that many cycles overlap and messages go out at once. Measured with `haichi lab` at
// 16 ranks on 4 nodes: 256 KiB beats 1 MiB and more by 3 to 20 per cent under Open MPI, and by 1 to
// 10 under MPICH. On a single node each cycle is a meeting of all ranks: windows of 256 KiB, three
// of them, beat those of 128 in reading by 5 to 10 per cent.
constexpr int64_t kBufferPerRank = 16 << 10;
constexpr int64_t kLeastBuffer = 256 << 10;
constexpr int64_t kLeastBufferOfNode = 768 << 10;

Choice choice_of(std::string_view word) {
  if (word == "auto") return Choice::automatic;
  return word == "on" ? Choice::on : Choice::off;
}

int whole(const Settings& settings, NumberKey key) {
  return int(std::min<int64_t>(settings.number(key), INT32_MAX));
}

int64_t default_buffer(const placement::Placement& placement) {
  return std::clamp(kBufferPerRank * placement.ranks(),
                    placement.nodes() == 1 ? kLeastBufferOfNode : kLeastBuffer, kMostBuffer);
}

}  // namespace

TwoPhaseOptions options_of(const Settings& settings, const placement::Placement& placement) {
  TwoPhaseOptions options;
  options.layout = *plan::layout_from(settings.text("io.layout"));
  options.order = *plan::issue_order_from(settings.text("io.order"));
  options.aggregators = whole(settings, "io.aggregators");
  options.per_node = whole(settings, "io.per_node");
  options.max_outstanding = whole(settings, "io.window");
  options.buffer = settings.number("io.buffer");
  options.may_shrink = options.buffer == 0;
  if (options.may_shrink) options.buffer = default_buffer(placement);
  // Three windows of a byte at least; a message is at most a window, and MPI counts bytes in an
  // int.
  options.buffer = std::clamp<int64_t>(options.buffer, 3, 1 << 30);
  // `enable` asks for collective buffering in so many words.
  options.may_go_direct =
      settings.text("io.write") != "enable" && settings.text("io.read") != "enable";
  options.may_share = settings.text("io.share") == "on";
  options.file_thread = choice_of(settings.text("io.thread"));
  options.node_streams = choice_of(settings.text("io.node_streams"));
  options.keep_local = settings.text("io.locality") == "on";
  options.stripe_unit = settings.number("io.stripe_unit");
  options.stripes = whole(settings, "io.stripes");
  return options;
}

Holes holes_of(const Settings& settings) {
  const std::string& name = settings.text("io.holes");
  if (name == "separate") return Holes::separate;
  return name == "rmw" ? Holes::rmw : Holes::automatic;
}

}  // namespace haichi::mpiio
