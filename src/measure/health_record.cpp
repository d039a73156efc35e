#include "measure/health_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace haichi::measure {
namespace {

using Json = nlohmann::ordered_json;

// Of all links and visits, or ranks and visits.
double typical(const Aspect& aspect) {
  std::vector<double> all;
  const auto take = [&](const Visits& visits) {
    for (const auto& visit : visits) all.insert(all.end(), visit.begin(), visit.end());
  };
  take(aspect.seconds);
  for (const Shift& shift : aspect.shifts) take(shift.seconds);
  return middle(std::move(all));
}

std::string amount(const Aspect& aspect) {
  const double seconds = typical(aspect);
  if (aspect.name == "bandwidth" || aspect.name == "copy")
    return fmt::format("{:.4g} MB/s", double(aspect.bytes) / seconds * 1e-6);
  return fmt::format("{:.4g} us", seconds * 1e6);
}

std::string subject(const Finding& finding, const Checkup& checkup) {
  if (finding.of == Of::rank)
    return fmt::format("rank {} on {}", finding.unit,
                       checkup.names[size_t(checkup.member_of_rank[size_t(finding.unit)])]);
  if (finding.of == Of::link)
    return fmt::format("the link from {} to {}", checkup.names[size_t(finding.from)],
                       checkup.names[size_t(finding.to)]);
  return checkup.names[size_t(finding.unit)];
}

std::string what(const Finding& finding) {
  if (finding.aspect == "compute") return "a small computation";
  if (finding.aspect == "copy") return "copying memory";
  if (finding.of == Of::link) return "what crosses it";
  if (finding.sends && finding.receives) return "what it sends and receives";
  return finding.sends ? "what it sends" : "what it receives";
}

// The unit that a comparison is about, by its number there.
std::string name_in(const Compared& compared, int unit, const Checkup& checkup) {
  return compared.units == "ranks" ? fmt::format("rank {}", unit) : checkup.names[size_t(unit)];
}

Json links_of(const Aspect& aspect, int members) {
  Json links = Json::array();
  for (const Shift& shift : aspect.shifts)
    for (int to = 0; to < members; ++to)
      links.push_back({{"from", (to + members - shift.distance) % members},
                       {"to", to},
                       {"distance", shift.distance},
                       {"seconds", middle(of_unit(shift.seconds, size_t(to)))}});
  return links;
}

Json ranks_of(const Aspect& aspect) {
  Json ranks = Json::array();
  if (aspect.seconds.empty()) return ranks;
  for (size_t rank = 0; rank < aspect.seconds.front().size(); ++rank)
    ranks.push_back(middle(of_unit(aspect.seconds, rank)));
  return ranks;
}

Json record_of(const Finding& finding, const Checkup& checkup) {
  static constexpr const char* kOf[] = {"member", "link", "rank"};
  Json record = {{"of", kOf[int(finding.of)]}, {"aspect", finding.aspect}};
  if (finding.of == Of::link) {
    record["from"] = finding.from;
    record["to"] = finding.to;
  } else {
    record[finding.of == Of::rank ? "rank" : "member"] = finding.unit;
  }
  if (!finding.distances.empty() && finding.of == Of::member) {
    record["sends"] = finding.sends;
    record["receives"] = finding.receives;
  }
  record["factor"] = finding.factor;
  record["seen"] = finding.seen;
  record["distances"] = finding.distances;
  record["text"] = sentence(finding, checkup);
  return record;
}

}  // namespace

Health judge(const Checkup& checkup) {
  Health all;
  for (const Aspect& aspect : checkup.aspects) {
    Health one = aspect.shifts.empty()
                     ? judge_ranks(aspect.name, checkup.members(), checkup.member_of_rank,
                                   aspect.seconds, aspect.limit)
                     : judge_links(aspect.name, checkup.members(), aspect.shifts, aspect.limit);
    std::move(one.findings.begin(), one.findings.end(), std::back_inserter(all.findings));
    std::move(one.compared.begin(), one.compared.end(), std::back_inserter(all.compared));
  }
  return all;
}

std::string sentence(const Finding& finding, const Checkup& checkup) {
  std::string text =
      fmt::format("{} is slow: {} takes {:.2f} times as long as {} ({}), in {} of {} visits",
                  subject(finding, checkup), what(finding), finding.factor,
                  finding.of == Of::link ? "what crosses others" : "that of its peers",
                  finding.aspect, finding.seen, checkup.visits);
  if (finding.distances.empty()) return text;
  return text + fmt::format("; shift{} by {}", finding.distances.size() == 1 ? "" : "s",
                            fmt::join(finding.distances, ", "));
}

std::string health_table(const Health& health, const Checkup& checkup) {
  std::string text = fmt::format("{:<22} {:>16} {:>12} {:>12}  {}\n", "", "median", "among units",
                                 "among visits", "slowest");
  std::string last;
  for (const Compared& compared : health.compared) {
    const Standing& standing = compared.standing;
    std::string shown;
    for (const Aspect& aspect : checkup.aspects)
      if (aspect.name == compared.aspect && last != compared.aspect) shown = amount(aspect);
    last = compared.aspect;
    const std::string title =
        compared.units.empty() ? compared.aspect : compared.aspect + ", " + compared.units;
    text += fmt::format("{:<22} {:>16} {:>10.1f} % {:>10.1f} %  {:.2f}", title, shown,
                        100 * standing.spread, 100 * standing.noise, standing.most_factor);
    text +=
        compared.units == "links" ? "\n" : " " + name_in(compared, standing.most, checkup) + "\n";
  }
  return text;
}

Json health_record(const Health& health, const Checkup& checkup) {
  Json record = {{"schema", kHealthSchema},
                 {"verdict", health.findings.empty() ? "fine" : "slow"},
                 {"members", checkup.nodes ? "nodes" : "ranks"},
                 {"names", checkup.names},
                 {"member_of_rank", checkup.member_of_rank},
                 {"visits", checkup.visits},
                 {"seconds", checkup.took}};
  Json findings = Json::array(), aspects = Json::array(), compared = Json::array();
  for (const Finding& each : health.findings) findings.push_back(record_of(each, checkup));
  for (const Compared& each : health.compared)
    compared.push_back({{"aspect", each.aspect},
                        {"units", each.units.empty() ? "members" : each.units},
                        {"spread", each.standing.spread},
                        {"noise", each.standing.noise},
                        {"slowest", each.standing.most_factor}});
  for (const Aspect& each : checkup.aspects)
    aspects.push_back({{"name", each.name},
                       {"bytes", each.bytes},
                       {"limit", each.limit},
                       {"median", typical(each)},
                       {"links", links_of(each, checkup.members())},
                       {"ranks", ranks_of(each)}});
  record["findings"] = findings;
  record["compared"] = compared;
  record["aspects"] = aspects;
  return record;
}

}  // namespace haichi::measure
