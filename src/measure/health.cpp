#include "measure/health.h"

#include <algorithm>
#include <cmath>

namespace haichi::measure {
namespace {

constexpr double kSigmaOfMad = 1.4826;   // of a normal distribution
constexpr double kErrorOfMedian = 1.25;  // of its mean
constexpr double kBand = 4;              // so many times the noise is beyond it
constexpr double kSeen = 0.75;           // share of the visits
// One link in one round has fewer times than a member, and there are more of them to be wrong
// about.
constexpr double kLinkLimit = 1.5;

// The k-th of so many quarters; of an even number the lower middle, which is a time that was taken.
double quartile(std::vector<double> values, int quarters) {
  const auto place = values.begin() + ptrdiff_t((values.size() - 1) * size_t(quarters) / 4);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double spread_around(double centre, std::vector<double> values) {
  for (double& value : values) value = std::abs(value - centre);
  return kSigmaOfMad * middle(std::move(values));
}

// Logarithms of each time over the median of its visit: what changes from visit to visit for all is
// gone, and half as long is as far as twice.
Visits relative(const Visits& seconds) {
  Visits logs = seconds;
  for (auto& visit : logs) {
    const double centre = middle(visit);
    for (double& value : visit) value = std::log(value / centre);
  }
  return logs;
}

bool holds(const Standing& standing, int unit) {
  return std::any_of(standing.slow.begin(), standing.slow.end(),
                     [&](const Outlier& each) { return each.unit == unit; });
}

// The shift as shares of what its faster members take: distances may differ, as the network's
// paths do. Of the lower quartile, since a slow member is in two links of a round.
Visits against_round(const Shift& shift) {
  Visits shares = shift.seconds;
  for (auto& visit : shares) {
    const double usual = quartile(visit, 1);
    for (double& value : visit) value /= usual;
  }
  return shares;
}

struct Rounds {
  int members;
  std::vector<int> distances;
  std::vector<Visits> shares;  // by round
  size_t visits() const { return shares.front().size(); }
  int sender(size_t round, int receiver) const {
    return (receiver + members - distances[round]) % members;
  }
  int receiver(size_t round, int sender) const { return (sender + distances[round]) % members; }
};

// By visit, the median over its rounds of what each member sends, or receives.
Visits by_member(const Rounds& rounds, bool sends) {
  Visits all(rounds.visits(), std::vector<double>(size_t(rounds.members)));
  for (size_t visit = 0; visit < all.size(); ++visit)
    for (int member = 0; member < rounds.members; ++member) {
      std::vector<double> values;
      for (size_t round = 0; round < rounds.shares.size(); ++round) {
        const int to = sends ? rounds.receiver(round, member) : member;
        values.push_back(rounds.shares[round][visit][size_t(to)]);
      }
      all[visit][size_t(member)] = middle(std::move(values));
    }
  return all;
}

// One finding for a member, whichever way it is slow; by the slower way.
void add_members(const std::string& aspect, const std::vector<int>& distances,
                 const Standing& sending, const Standing& receiving, Health& health) {
  const auto add = [&](const Outlier& slow, bool sends) {
    auto found = std::find_if(health.findings.begin(), health.findings.end(),
                              [&](const Finding& each) { return each.unit == slow.unit; });
    if (found == health.findings.end())
      found = health.findings.insert(
          found, {.of = Of::member, .aspect = aspect, .unit = slow.unit, .distances = distances});
    (sends ? found->sends : found->receives) = true;
    if (slow.factor <= found->factor) return;
    found->factor = slow.factor;
    found->seen = slow.seen;
  };
  for (const Outlier& slow : sending.slow) add(slow, true);
  for (const Outlier& slow : receiving.slow) add(slow, false);
}

struct Link {
  size_t round;
  int from, to;
};

// Links of members that are not slow themselves, each against the slower of its two.
void judge_single_links(const std::string& aspect, const Rounds& rounds, const Visits& sends,
                        const Visits& receives, const Standing& sending, const Standing& receiving,
                        double limit, Health& health) {
  std::vector<Link> links;
  for (size_t round = 0; round < rounds.shares.size(); ++round)
    for (int to = 0; to < rounds.members; ++to) {
      const int from = rounds.sender(round, to);
      if (!holds(sending, from) && !holds(receiving, to)) links.push_back({round, from, to});
    }
  if (links.empty()) return;
  Visits seconds(rounds.visits());
  for (size_t visit = 0; visit < seconds.size(); ++visit)
    for (const Link& link : links) {
      const double usual =
          std::max(sends[visit][size_t(link.from)], receives[visit][size_t(link.to)]);
      seconds[visit].push_back(rounds.shares[link.round][visit][size_t(link.to)] /
                               (rounds.members == 2 ? 1 : usual));
    }
  Standing standing = slower_than_peers(seconds, kLinkLimit * limit);
  for (const Outlier& slow : standing.slow) {
    const Link& link = links[size_t(slow.unit)];
    health.findings.push_back({.of = Of::link,
                               .aspect = aspect,
                               .from = link.from,
                               .to = link.to,
                               .factor = slow.factor,
                               .seen = slow.seen,
                               .distances = {rounds.distances[link.round]}});
  }
  health.compared.push_back({aspect, "links", std::move(standing)});
}

}  // namespace

double middle(std::vector<double> values) { return quartile(std::move(values), 2); }

std::vector<double> of_unit(const Visits& visits, size_t unit) {
  std::vector<double> values;
  for (const auto& visit : visits) values.push_back(visit[unit]);
  return values;
}

Standing slower_than_peers(const Visits& seconds, double limit) {
  const Visits logs = relative(seconds);
  const size_t units = logs.front().size(), visits = logs.size();
  std::vector<double> places, noises;
  for (size_t unit = 0; unit < units; ++unit) {
    const auto values = of_unit(logs, unit);
    places.push_back(middle(values));
    noises.push_back(spread_around(places.back(), values));
  }
  const double centre = middle(places);
  Standing standing;
  standing.noise = middle(noises);
  standing.spread = spread_around(centre, places);
  const auto most = std::max_element(places.begin(), places.end());
  standing.most = int(most - places.begin());
  standing.most_factor = std::exp(*most - centre);
  for (size_t unit = 0; unit < units; ++unit) {
    const double error =
        kErrorOfMedian * std::max(standing.noise, noises[unit]) / std::sqrt(double(visits));
    const double band = std::max({std::log1p(limit), kBand * error, kBand * standing.spread});
    const double clearly = centre + std::log1p(limit / 2);
    const auto values = of_unit(logs, unit);
    const auto seen =
        std::count_if(values.begin(), values.end(), [&](double value) { return value > clearly; });
    if (places[unit] - centre > band && double(seen) >= kSeen * double(visits))
      standing.slow.push_back({int(unit), std::exp(places[unit] - centre), int(seen)});
  }
  return standing;
}

std::vector<int> shift_distances(int members) {
  std::vector<int> distances;
  for (int far = 1; 2 * far <= members; far *= 2) {
    distances.push_back(far);
    if (members - far != far) distances.push_back(members - far);
  }
  return distances;
}

Health judge_links(const std::string& aspect, int members, const std::vector<Shift>& shifts,
                   double limit) {
  Rounds rounds{members, {}, {}};
  for (const Shift& shift : shifts) {
    rounds.distances.push_back(shift.distance);
    rounds.shares.push_back(against_round(shift));
  }
  const Visits sends = by_member(rounds, true), receives = by_member(rounds, false);
  Standing sending, receiving;
  Health health;
  if (members > 2) {
    sending = slower_than_peers(sends, limit);
    receiving = slower_than_peers(receives, limit);
    add_members(aspect, rounds.distances, sending, receiving, health);
    health.compared = {{aspect, "sending", sending}, {aspect, "receiving", receiving}};
  }
  judge_single_links(aspect, rounds, sends, receives, sending, receiving, limit, health);
  return health;
}

namespace {

Visits middle_ranks(int members, const std::vector<int>& member_of_rank, const Visits& seconds) {
  Visits of_members(seconds.size());
  for (size_t visit = 0; visit < seconds.size(); ++visit)
    for (int member = 0; member < members; ++member) {
      std::vector<double> own;
      for (size_t rank = 0; rank < member_of_rank.size(); ++rank)
        if (member_of_rank[rank] == member) own.push_back(seconds[visit][rank]);
      of_members[visit].push_back(middle(std::move(own)));
    }
  return of_members;
}

Finding own_speed(Of of, const std::string& aspect, const Outlier& slow) {
  return {.of = of, .aspect = aspect, .unit = slow.unit, .factor = slow.factor, .seen = slow.seen};
}

}  // namespace

Health judge_ranks(const std::string& aspect, int members, const std::vector<int>& member_of_rank,
                   const Visits& seconds, double limit) {
  Health health;
  Standing of_members = slower_than_peers(middle_ranks(members, member_of_rank, seconds), limit);
  for (const Outlier& slow : of_members.slow)
    health.findings.push_back(own_speed(Of::member, aspect, slow));
  if (members < int(member_of_rank.size())) {
    Standing ranks = slower_than_peers(seconds, limit);
    for (const Outlier& slow : ranks.slow)
      if (!holds(of_members, member_of_rank[size_t(slow.unit)]))
        health.findings.push_back(own_speed(Of::rank, aspect, slow));
    health.compared.push_back({aspect, "ranks", std::move(ranks)});
  }
  health.compared.insert(health.compared.begin(), {aspect, "", std::move(of_members)});
  return health;
}

}  // namespace haichi::measure
