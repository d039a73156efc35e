#include "plan/node_share.h"

#include <algorithm>

namespace haichi::plan {
namespace {

// Another share must take less than this part of what the usual one takes: it is the one that has
// larger windows for each aggregator, and costs are known about.
constexpr double kWorth = 0.9;

double nanoseconds_of_byte(double bytes_per_second) { return 1e9 / bytes_per_second; }

/// The share at which a node that has `most` of all bytes is as long at its link as at its files.
double balanced_share(const NodeBytes& have, const std::vector<int>& aggregators, int servers,
                      const ByteCosts& costs) {
  std::vector<int64_t> own(aggregators.size());
  int64_t all = 0;
  for (const auto& part : have.bytes)
    for (size_t n = 0; n < own.size(); ++n) {
      own[n] += part[n];
      all += part[n];
    }
  const size_t fullest = size_t(std::max_element(own.begin(), own.end()) - own.begin());
  const double file = costs.file / std::max(1, aggregators[fullest]);
  return double(own[fullest]) / double(std::max<int64_t>(1, all)) * servers * costs.link /
         (costs.link + file);
}

}  // namespace

std::optional<ByteCosts> byte_costs(const machine::Machine& machine, const FileShape& file) {
  if (!machine.tells("in_gbs") || !machine.tells("out_gbs")) return std::nullopt;
  ByteCosts costs{.link = 1 / std::min(machine.in_gbs, machine.out_gbs),
                  .from = "by the machine's profile"};
  if (const auto rates = access_rates(machine, file)) {
    costs.file = nanoseconds_of_byte(rates->one);
    costs.all = nanoseconds_of_byte(rates->storage);
    costs.one_port = machine.storage_gbs == 0;
    return costs;
  }
  if (!machine.tells("client_gbs") || machine.client_gbs <= 0) return std::nullopt;
  costs.file = 1 / machine.client_gbs;
  if (machine.tells("request_us"))
    costs.file += machine.request_us * 1e3 / double(std::max<int64_t>(1, file.window));
  return costs;
}

double handling_ns(const NodeBytes& have, const std::vector<int>& nodes,
                   const std::vector<int>& aggregators, const ByteCosts& costs) {
  const NodeWork work = work_of(have, nodes);
  double most = 0, all = 0;
  for (size_t n = 0; n < work.load.size(); ++n) {
    const double load = double(work.load[n]);
    const double file = load * costs.file / std::max(1, aggregators[n]);
    double link = double(std::max(work.in[n], work.out[n])) * costs.link;
    // Written bytes leave a second time, towards the servers; reading is the same backwards.
    if (costs.one_port)
      link = std::max(double(work.in[n]), double(work.out[n]) + load) * costs.link;
    most = std::max({most, file, link});
    all += load * costs.all;
  }
  return std::max(most, all);
}

int64_t busiest_aggregator(const NodeBytes& have, const std::vector<int>& nodes,
                           const std::vector<int>& aggregators) {
  const NodeWork work = work_of(have, nodes);
  int64_t most = 0;
  for (size_t n = 0; n < work.load.size(); ++n)
    most = std::max(most, work.load[n] / std::max(1, aggregators[n]));
  return most;
}

PlacedParts place_by_cost(const NodeBytes& have, const std::vector<int>& aggregators, int64_t run,
                          const std::optional<ByteCosts>& costs) {
  std::vector<bool> serves;
  for (const int each : aggregators) serves.push_back(each > 0);
  PlacedParts best{place_by_bytes(have, serves, run)};
  if (!costs) return best;
  const int servers = int(std::count(serves.begin(), serves.end(), true));
  const int64_t usual = busiest_link(have, best.nodes);
  // One more than that is no limit, however shares are rounded.
  PlacedParts whole{place_by_bytes(have, serves, run, servers + 1), double(servers)};
  // Most accesses have as many bytes on each node: no share is in the way of any.
  if (double(busiest_link(have, whole.nodes)) > kWorth * double(usual)) return best;
  double least = kWorth * handling_ns(have, best.nodes, aggregators, *costs);
  const double between = balanced_share(have, aggregators, servers, *costs);
  std::vector<PlacedParts> others = {std::move(whole)};
  if (between > kUsualShare && between < servers)
    others.push_back({place_by_bytes(have, serves, run, between), between});
  for (PlacedParts& each : others) {
    const double ns = handling_ns(have, each.nodes, aggregators, *costs);
    if (ns >= least) continue;
    least = ns;
    best = std::move(each);
  }
  return best;
}

}  // namespace haichi::plan
