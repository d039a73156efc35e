#include "topology/link_load.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace haichi::topology {
namespace {

using Counts = std::vector<int64_t>;

// Counts by coordinate, one row for each different key, rows one after the other.
class Rows {
 public:
  Rows(std::vector<int> keys, size_t length) : keys_(std::move(keys)), length_(length) {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    counts_.resize(keys_.size() * length);
  }
  size_t size() const { return keys_.size(); }
  int64_t& count(int key, int coordinate) {
    const auto row = std::lower_bound(keys_.begin(), keys_.end(), key) - keys_.begin();
    return counts_[size_t(row) * length_ + size_t(coordinate)];
  }
  std::span<const int64_t> row(size_t at) const { return {counts_.data() + at * length_, length_}; }

 private:
  std::vector<int> keys_;
  size_t length_;
  Counts counts_;
};

// The most messages over a link up, from i to i + 1, of a line: each of sources[i] sends to each of
// targets[j].
int64_t most_up(std::span<const int64_t> sources, std::span<const int64_t> targets) {
  int64_t before = 0, after = 0, most = 0;
  for (const int64_t count : targets) after += count;
  for (size_t i = 0; i < sources.size(); ++i) {
    before += sources[i];
    after -= targets[i];
    most = std::max(most, before * after);
  }
  return most;
}

// The same of a ring, where messages go up that have at most `reach` links to go.
int64_t most_up_round(std::span<const int64_t> sources, std::span<const int64_t> targets,
                      int reach) {
  const int n = int(sources.size());
  if (reach == 0) return 0;
  const auto round = [n](int i) { return size_t(i < 0 ? i + n : i % n); };
  // Over the link from 0 to 1: of the source k before 0 what goes to 1 .. reach - k.
  int64_t load = 0, coming = 0, going = 0, targets_near = 0;
  for (int k = reach - 1; k >= 0; --k) {
    targets_near += targets[round(reach - k)];
    load += sources[round(-k)] * targets_near;
  }
  for (int k = 1; k <= reach; ++k) {
    coming += sources[round(1 - k)];  // that may end at 1
    going += targets[round(1 + k)];   // to which a message from 1 may go
  }
  int64_t most = load;
  for (int i = 1; i < n; ++i) {  // the link from i to i + 1
    load += sources[size_t(i)] * going - targets[size_t(i)] * coming;
    coming += sources[size_t(i)] - sources[round(i - reach)];
    going += targets[round(i + 1 + reach)] - targets[round(i + 1)];
    most = std::max(most, load);
  }
  return most;
}

Counts reversed(std::span<const int64_t> counts) { return {counts.rbegin(), counts.rend()}; }

// The most over the links of a line, which are sums of what begins less what ends.
int64_t most_running(std::vector<int64_t>& starts, int line, int stride, int extent) {
  int64_t load = 0, most = 0;
  for (int i = 0; i < extent; ++i) {
    load += std::exchange(starts[size_t(line + i * stride)], 0);
    most = std::max(most, load);
  }
  return most;
}

}  // namespace

LinkLoads::LinkLoads(const Shape& shape, std::span<const int> places)
    : shape_(shape), places_(places.begin(), places.end()) {
  if (shape_.kind == Shape::Kind::dragonfly) dragonfly_.emplace(shape_);
  strides_.resize(dimensions());
  int stride = 1;
  for (size_t d = dimensions(); d-- > 0; stride *= shape_.extents[d]) strides_[d] = stride;
  for (const int place : places_)
    for (size_t d = 0; d < dimensions(); ++d) {
      const int after = place % strides_[d], line = strides_[d] * shape_.extents[d];
      at_.push_back({place % line / strides_[d], place - place % line, after});
    }
}

int64_t LinkLoads::uniform(std::span<const int64_t> weights) const {
  if (shape_.kind == Shape::Kind::fat_tree) return uniform_in_tree(weights);
  if (dragonfly_) return uniform_in_dragonfly(weights);
  int64_t most = 0;
  for (size_t d = 0; d < dimensions(); ++d) most = std::max(most, uniform_along(d, weights));
  return most;
}

int64_t LinkLoads::uniform_along(size_t d, std::span<const int64_t> weights) const {
  const int extent = shape_.extents[d], nodes = int(places_.size());
  std::vector<int> before, after;
  for (int node = 0; node < nodes; ++node) {
    before.push_back(at(node, d).before);
    after.push_back(at(node, d).after);
  }
  Rows sources(std::move(after), size_t(extent)), targets(std::move(before), size_t(extent));
  for (int node = 0; node < nodes; ++node) {
    const At& here = at(node, d);
    sources.count(here.after, here.coordinate) += weights[size_t(node)];
    targets.count(here.before, here.coordinate) += weights[size_t(node)];
  }
  const bool torus = shape_.kind == Shape::Kind::torus;
  const int up = extent / 2, down = (extent - 1) / 2;  // steps_along() says so
  int64_t most = 0;
  for (size_t t = 0; t < targets.size(); ++t) {
    const auto to = targets.row(t);
    const Counts to_down = reversed(to);
    for (size_t s = 0; s < sources.size(); ++s) {
      const auto from = sources.row(s);
      const Counts from_down = reversed(from);
      most = std::max(most, torus ? most_up_round(from, to, up) : most_up(from, to));
      most = std::max(
          most, torus ? most_up_round(from_down, to_down, down) : most_up(from_down, to_down));
    }
  }
  return most;
}

int64_t LinkLoads::uniform_in_tree(std::span<const int64_t> weights) const {
  const auto ups = size_t(shape_.ups);
  const auto switches =
      size_t(*std::max_element(places_.begin(), places_.end())) / size_t(shape_.per_switch) + 1;
  Counts on(switches), by_way(ups), on_by_way(switches * ups);
  int64_t all = 0;
  for (int node = 0; node < int(places_.size()); ++node) {
    const int64_t weight = weights[size_t(node)];
    all += weight;
    on[size_t(switch_of(node))] += weight;
    by_way[size_t(way(node))] += weight;
    on_by_way[size_t(switch_of(node)) * ups + size_t(way(node))] += weight;
  }
  int64_t most = 0;
  for (size_t s = 0; s < switches; ++s)
    for (size_t w = 0; w < ups; ++w) {
      const int64_t here = on_by_way[s * ups + w];
      most = std::max({most, on[s] * (by_way[w] - here), (all - on[s]) * here});
    }
  return most;
}

PathLoad LinkLoads::of(std::span<const Flow> flows) {
  if (shape_.kind == Shape::Kind::fat_tree) return in_tree(flows);
  if (dragonfly_) return in_dragonfly(flows);
  PathLoad load;
  for (size_t d = 0; d < dimensions(); ++d)
    load.messages = std::max(load.messages, along(d, flows));
  for (const Flow& flow : flows) load.hops = std::max(load.hops, hops(flow));
  return load;
}

// What goes over a link depends on the router that it comes from, not on the node, so that sources
// are counted by routers.
int64_t LinkLoads::uniform_in_dragonfly(std::span<const int64_t> weights) const {
  std::map<int, int64_t> sources;
  for (size_t node = 0; node < places_.size(); ++node)
    sources[dragonfly_->router_of(places_[node])] += weights[node];
  Counts links(size_t(dragonfly_->links()));
  for (const auto& [router, weight] : sources)
    for (size_t node = 0; node < places_.size(); ++node)
      for (int at = router, link; (link = dragonfly_->next(at, places_[node], -1)) >= 0;
           at = dragonfly_->end(link))
        links[size_t(link)] += weight * weights[node];
  return links.empty() ? 0 : *std::max_element(links.begin(), links.end());
}

PathLoad LinkLoads::in_dragonfly(std::span<const Flow> flows) const {
  Counts links(size_t(dragonfly_->links()));
  PathLoad load;
  for (const Flow& flow : flows) {
    const int target = places_[size_t(flow.to)];
    int hops = 0;
    for (int at = dragonfly_->router_of(places_[size_t(flow.from)]), link;
         (link = dragonfly_->next(at, target, -1)) >= 0; at = dragonfly_->end(link), ++hops)
      load.messages = std::max(load.messages, links[size_t(link)] += flow.messages);
    load.hops = std::max(load.hops, hops);
  }
  return load;
}

int LinkLoads::hops(const Flow& flow) const {
  const bool torus = shape_.kind == Shape::Kind::torus;
  int hops = 0;
  for (size_t d = 0; d < dimensions(); ++d)
    hops += std::abs(steps_along(torus, shape_.extents[d], at(flow.from, d).coordinate,
                                 at(flow.to, d).coordinate));
  return hops;
}

int64_t LinkLoads::along(size_t d, std::span<const Flow> flows) {
  const auto places = size_t(shape_.places());
  up_.resize(places);
  down_.resize(places);
  touched_.resize(places);
  const bool torus = shape_.kind == Shape::Kind::torus;
  const int extent = shape_.extents[d];
  for (const Flow& flow : flows) {
    const At &from = at(flow.from, d), &to = at(flow.to, d);
    const int steps = steps_along(torus, extent, from.coordinate, to.coordinate);
    if (steps == 0) continue;
    const int line = to.before + from.after;
    if (!std::exchange(touched_[size_t(line)], 1)) lines_.push_back(line);
    // A link belongs to the lower of the places that it joins.
    const bool upward = steps > 0;
    add(upward ? up_ : down_, line, d, upward ? from.coordinate : to.coordinate, std::abs(steps),
        flow.messages);
  }
  int64_t most = 0;
  for (const int line : lines_) {
    most = std::max({most, most_running(up_, line, strides_[d], extent),
                     most_running(down_, line, strides_[d], extent)});
    touched_[size_t(line)] = 0;
  }
  lines_.clear();
  return most;
}

// So many links from a place of the line on carry messages.
void LinkLoads::add(std::vector<int64_t>& starts, int line, size_t d, int from, int links,
                    int64_t messages) const {
  const int extent = shape_.extents[d], end = from + links;
  const auto at = [&](int i) -> int64_t& { return starts[size_t(line + i * strides_[d])]; };
  at(from) += messages;
  if (end > extent) at(0) += messages;
  if (end != extent) at(end % extent) -= messages;
}

PathLoad LinkLoads::in_tree(std::span<const Flow> flows) {
  const auto ups = size_t(shape_.ups);
  const auto switches =
      size_t(*std::max_element(places_.begin(), places_.end())) / size_t(shape_.per_switch) + 1;
  up_.assign(switches * ups, 0);
  down_.assign(switches * ups, 0);
  PathLoad load;
  for (const Flow& flow : flows) {
    const int from = switch_of(flow.from), to = switch_of(flow.to);
    if (from == to) continue;
    load.hops = 2;
    for (auto [links, at] : {std::pair(&up_, from), std::pair(&down_, to)})
      load.messages = std::max(load.messages,
                               (*links)[size_t(at) * ups + size_t(way(flow.to))] += flow.messages);
  }
  return load;
}

}  // namespace haichi::topology
