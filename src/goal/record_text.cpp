#include "goal/record_text.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/version.h"
#include "placement/formats.h"
#include "record/sequence_json.h"
#include "record/write.h"
#include "replay/stream.h"

namespace haichi::goal {
namespace {

using Json = nlohmann::ordered_json;

std::string head(const record::Record& record) {
  const Json line = {{"kind", "record"},
                     {"schema", "haichi.record/1"},
                     {"by", fmt::format("haichi {}", kVersion)},
                     {"program", record.program},
                     {"ranks", record.ranks},
                     {"placement", Json::parse(placement::to_json(record.placement))},
                     {"sync", false},
                     {"sequence", true}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string record_text(const record::Record& record) {
  std::string text = head(record) + '\n';
  const auto out = std::back_inserter(text);
  for (const auto& comm : record.communicators)
    fmt::format_to(out, "{{\"kind\":\"communicator\",\"id\":{},\"name\":{},\"members\":\"{}\"}}\n",
                   comm.id, quoted(comm.name), placement::to_rank_list(comm.members));
  uint64_t all = 0;
  for (int rank = 0; rank < record.ranks; ++rank) {
    const auto& sequence = record.sequences[size_t(rank)];
    if (!sequence) continue;
    const auto counts = replay::occurrences(*sequence);
    double compute = 0, took = 0;
    uint64_t calls = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      compute += sequence->events[i].compute_s * double(counts[i]);
      took += sequence->events[i].took_s * double(counts[i]);
      calls += counts[i];
    }
    all += calls;
    fmt::format_to(
        out,
        "{{\"kind\":\"rank\",\"rank\":{},\"wall_s\":{:.9g},\"mpi_s\":{:.9g},\"compute_s\":"
        "{:.9g},\"calls\":{}}}\n",
        rank, compute + took, took, compute, calls);
    text += record::sequence_line(rank, *sequence) + '\n';
  }
  text += record::end_line(record.ranks, int64_t(all));
  return text;
}

}  // namespace haichi::goal
