#include "gasfs/plan/btio.h"

#include <array>
#include <cmath>

namespace haichi::gasfs {
namespace {

constexpr std::array<BtioClass, 6> kClasses{
    {{'S', 12, 12}, {'W', 24, 40}, {'A', 64, 40}, {'B', 102, 40}, {'C', 162, 40}, {'D', 408, 50}}};

uint32_t side(const BtioJob& job) {
  return static_cast<uint32_t>(std::lround(std::sqrt(double(job.nodes) * job.per_node)));
}

struct Span {
  uint32_t begin, size;
};

/// Cell `number` of `q` along a side of `n` points: the first n mod q have one more.
Span cell(uint32_t n, uint32_t q, uint32_t number) {
  const uint32_t less = n / q, more = n % q;
  return {number * less + std::min(number, more), less + (number < more ? 1 : 0)};
}

/// Counts the requests of all servers, each with its own head.
class Servers {
 public:
  explicit Servers(const Layout& layout) : heads_(layout.servers, ~uint64_t{0}) {}
  void carry_out(const Arranged& arranged) {
    for (const Run& run : arranged.runs) {
      ++counts.requests;
      if (heads_[run.server] != run.offset) ++counts.seeks;
      heads_[run.server] = run.offset + run.length;
    }
  }
  RequestCounts counts;

 private:
  std::vector<uint64_t> heads_;
};

void gather(const std::vector<uint64_t>& records, std::vector<Request>& into) {
  for (const uint64_t offset : records) into.push_back({offset, kBtioRecord, 0});
}

/// The ranks' records of one snapshot in turns.
void count_unarranged(const BtioJob& job, const Layout& layout, uint32_t snapshot,
                      Servers& servers) {
  std::vector<std::vector<uint64_t>> records;
  size_t most = 0;
  for (uint32_t rank = 0; rank < job.nodes * job.per_node; ++rank) {
    records.push_back(btio_records(job, rank, snapshot));
    most = std::max(most, records.back().size());
  }
  std::vector<Request> turn;
  for (size_t i = 0; i < most; ++i) {
    turn.clear();
    for (const auto& of_rank : records)
      if (i < of_rank.size()) turn.push_back({of_rank[i], kBtioRecord, 0});
    servers.counts.records += turn.size();
    servers.carry_out(cut_only(turn, layout));
  }
}

}  // namespace

std::optional<BtioClass> btio_class(std::string_view name) {
  for (const BtioClass& known : kClasses)
    if (name.size() == 1 && name[0] == known.name) return known;
  return std::nullopt;
}

Status check(const BtioJob& job) {
  const uint64_t ranks = uint64_t{job.nodes} * job.per_node;
  if (ranks == 0) return fail(EINVAL, "no ranks: nodes and ranks per node are 1 or more");
  if (ranks > uint64_t{job.size.n} * job.size.n)
    return fail(EINVAL, "{} ranks are too many for class {}: {} at most", ranks, job.size.name,
                job.size.n * job.size.n);
  if (uint64_t{side(job)} * side(job) != ranks)
    return fail(EINVAL, "BT runs on a square number of ranks, not on {} x {} = {}", job.nodes,
                job.per_node, ranks);
  return {};
}

uint32_t node_of(const BtioJob& job, uint32_t rank) {
  return job.blocks ? rank / job.per_node : rank % job.nodes;
}

std::vector<uint64_t> btio_records(const BtioJob& job, uint32_t rank, uint32_t snapshot) {
  const uint32_t n = job.size.n, q = side(job);
  std::vector<uint64_t> offsets;
  for (uint32_t c = 0; c < q; ++c) {
    const Span x = cell(n, q, (rank % q + c) % q), y = cell(n, q, (rank / q + q - c) % q),
               z = cell(n, q, c);
    for (uint64_t k = z.begin; k < z.begin + z.size; ++k)
      for (uint64_t j = y.begin; j < y.begin + y.size; ++j)
        for (uint64_t i = x.begin; i < x.begin + x.size; ++i)
          offsets.push_back((i + n * (j + n * (k + uint64_t{n} * snapshot))) * kBtioRecord);
  }
  return offsets;
}

RequestCounts count_btio(const BtioJob& job, const Layout& layout, Gathering gathering) {
  Servers servers(layout);
  const uint32_t at_once = gathering == Gathering::whole ? job.size.snapshots : 1;
  std::vector<Request> requests;
  for (uint32_t first = 0; first < job.size.snapshots; first += at_once) {
    if (gathering == Gathering::none) {
      count_unarranged(job, layout, first, servers);
      continue;
    }
    for (uint32_t node = 0; node < job.nodes; ++node) {
      requests.clear();
      for (uint32_t rank = 0; rank < job.nodes * job.per_node; ++rank)
        for (uint32_t s = first; node_of(job, rank) == node && s < first + at_once; ++s)
          gather(btio_records(job, rank, s), requests);
      servers.counts.records += requests.size();
      servers.carry_out(arrange(requests, layout));
    }
  }
  return servers.counts;
}

}  // namespace haichi::gasfs
