#include "oracle/case_model.h"

namespace oracle {

RankWrite written_by(const Plan& plan, const Step& step, int rank, const View& view,
                     const Call& call) {
  const MemoryMap memory(call.type->map, call.count);
  const ViewMap map = view.map();
  const uint64_t key = buffer_key(plan, step, rank);
  RankWrite write{rank, map.pieces(call.offset * map.etype_size(), memory.bytes()), {}};
  write.data.reserve(size_t(memory.bytes()));
  for (const Piece& piece : memory.pieces())
    for (int64_t i = 0; i < piece.length; ++i)
      write.data.push_back(pattern(key, piece.at + i - memory.low()));
  return write;
}

int64_t etypes_of(const Call& call, const View& view) {
  return call.count * call.type->map.size() / view.etype->map.size();
}

int64_t seek_target(const Seek& seek, const View& view, int64_t position, int64_t file_size) {
  switch (seek.whence) {
    case Seek::Whence::set:
      return seek.offset;
    case Seek::Whence::cur:
      return position + seek.offset;
    case Seek::Whence::end: {
      const ViewMap map = view.map();
      return map.bytes_below(file_size) / map.etype_size() + seek.offset;
    }
  }
  return 0;
}

CaseModel::CaseModel(const Plan& plan)
    : plan_(plan), positions_(plan.members.size(), 0), file_(plan.base) {
  for (int rank = 0; rank < plan.ranks(); ++rank) views_.push_back(default_view(plan, rank));
  std::vector<uint8_t> bytes(size_t(plan.prefill_bytes));
  const uint64_t key = prefill_key(plan);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(key, int64_t(i));
  file_.prefill(bytes);
}

void CaseModel::set_view(const Step& step) {
  for (int rank = 0; rank < plan_.ranks(); ++rank) {
    views_[size_t(rank)] = make_view(plan_, step, rank);
    positions_[size_t(rank)] = 0;
  }
  shared_ = 0;
}

std::vector<Seek> CaseModel::seek(const Step& step) {
  std::vector<Seek> seeks;
  if (step.kind == StepKind::seek_shared) {
    const Seek seek = make_shared_seek(plan_, step, views_[0], shared_, file_.size());
    shared_ = seek_target(seek, views_[0], shared_, file_.size());
    return std::vector<Seek>(size_t(plan_.ranks()), seek);
  }
  for (int rank = 0; rank < plan_.ranks(); ++rank) {
    int64_t& position = positions_[size_t(rank)];
    const View& view = views_[size_t(rank)];
    seeks.push_back(make_seek(plan_, step, rank, view, position, file_.size()));
    position = seek_target(seeks.back(), view, position, file_.size());
  }
  return seeks;
}

std::vector<Call> CaseModel::calls(const Step& step) const {
  std::vector<Call> calls;
  int64_t before = 0;  // etypes of the ranks before, at the shared file pointer
  for (int rank = 0; rank < plan_.ranks(); ++rank) {
    const View& view = views_[size_t(rank)];
    const bool shared = is_at_shared(step.kind);
    const int64_t position = shared ? shared_ : positions_[size_t(rank)];
    calls.push_back(make_call(plan_, step, rank, view, position, file_.size()));
    if (!shared) continue;
    calls.back().offset += before;
    before += etypes_of(calls.back(), view);
  }
  return calls;
}

void CaseModel::access(const Step& step, const std::vector<Call>& calls) {
  std::vector<RankWrite> writes;
  for (int rank = 0; rank < plan_.ranks(); ++rank) {
    const Call& call = calls[size_t(rank)];
    const View& view = views_[size_t(rank)];
    if (is_write(step.kind)) writes.push_back(written_by(plan_, step, rank, view, call));
    if (is_at_shared(step.kind))
      shared_ += etypes_of(call, view);
    else if (!has_offset(step.kind))
      positions_[size_t(rank)] += etypes_of(call, view);
  }
  if (is_write(step.kind)) file_.write(writes);
}

std::string describe(const Plan& plan) {
  std::string out = to_text(plan);
  CaseModel model(plan);
  for (const Step& step : plan.steps) {
    std::vector<Seek> seeks;
    std::vector<Call> calls;
    if (step.kind == StepKind::set_view) model.set_view(step);
    const bool seek = step.kind == StepKind::seek || step.kind == StepKind::seek_shared;
    if (seek) seeks = model.seek(step);
    if (step.kind > StepKind::sync) {
      calls = model.calls(step);
      model.access(step, calls);
    }
    for (int rank = 0; rank < plan.ranks() && step.kind != StepKind::sync; ++rank) {
      out += "  rank " + std::to_string(rank) + " ";
      if (step.kind == StepKind::set_view) out += to_text(step, model.view(rank));
      if (seek)
        out += std::to_string(step.id) + (step.kind == StepKind::seek ? ":" : ":shared ") +
               to_text(seeks[size_t(rank)]);
      if (step.kind > StepKind::sync) out += to_text(step, calls[size_t(rank)]);
      out += "\n";
    }
  }
  return out;
}

}  // namespace oracle
