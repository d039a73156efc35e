#include "measure/records.h"

namespace haichi::measure {
namespace {

using Json = nlohmann::ordered_json;

void add_identity(Json& record, const Point& point) {
  record["name"] = point.measurement->name;
  record["place"] = point.place;
  if (!point.ranks.empty()) record["ranks"] = point.ranks;
  record["bytes"] = point.bytes;
}

void add_disturbance(Json& record, const Disturbance& seen) {
  record["involuntary_switches"] = int64_t(seen.switches);
  record["page_faults"] = int64_t(seen.faults);
  record["steal_seconds"] = seen.steal;
  if (seen.most_mhz == 0) return;
  record["least_mhz"] = seen.least_mhz;
  record["most_mhz"] = seen.most_mhz;
}

}  // namespace

Json record_of(const Measurement& measurement) {
  return {{"kind", "measurement"},
          {"name", measurement.name},
          {"group", measurement.group},
          {"functions", measurement.functions},
          {"section", measurement.section},
          {"timed", measurement.timed},
          {"sample", measurement.sample},
          {"formula", measurement.formula()},
          {"buffers", measurement.buffers},
          {"who", text_of(measurement.who)},
          {"start", text_of(measurement.start)},
          {"over", text_of(measurement.over)},
          {"sized", measurement.sizes.to > 0},
          {"unit", "s"}};
}

Json record_of(const Point& point, const Found& found, const Goal& goal, int launch,
               const char* role) {
  const Histogram& samples = found.samples;
  const auto interval = median_interval(samples);
  Json record = {{"kind", "point"}, {"launch", launch}};
  add_identity(record, point);
  record["role"] = role;
  record["samples"] = samples.count();
  record["batch"] = found.batch;
  record["visits"] = found.visits;
  record["median"] = samples.quantile(0.5);
  record["median_low"] = interval ? Json(interval->low) : Json();
  record["median_high"] = interval ? Json(interval->high) : Json();
  record["narrow"] = reached(samples, goal);
  record["p5"] = samples.quantile(0.05);
  record["p95"] = samples.quantile(0.95);
  record["p99"] = samples.quantile(0.99);
  record["least"] = samples.least();
  record["most"] = samples.most();
  record["mean"] = samples.sum() / double(samples.count());
  record["first"] = found.first;
  record["buffers"] = text_of(point.buffers);
  record["start"] = text_of(found.start);
  record["usual"] = point.usual();
  record["missed"] = found.missed;
  add_disturbance(record, found.disturbance);
  Json bins = Json::array(), counts = Json::array();
  for (const auto& [bin, count] : samples.bins()) {
    bins.push_back(bin);
    counts.push_back(count);
  }
  record["bins"] = bins;
  record["counts"] = counts;
  if (!found.raw.empty()) record["raw"] = found.raw;
  return record;
}

Json record_of(const Point& point, const Switch& found, int launch) {
  Json record = {{"kind", "switch"},
                 {"launch", launch},
                 {"name", point.measurement->name},
                 {"place", point.place}};
  if (!point.ranks.empty()) record["ranks"] = point.ranks;
  record["buffers"] = text_of(point.buffers);
  record["below"] = found.below.bytes;
  record["above"] = found.above.bytes;
  record["median_below"] = found.below.median;
  record["median_above"] = found.above.median;
  record["ratio"] = found.ratio();
  return record;
}

Json record_of(const Left& left, int launch) {
  return {{"kind", "left"},
          {"launch", launch},
          {"name", left.chosen.measurement->name},
          {"reason", left.reason}};
}

Json record_of(const Point& point, const std::string& problem, int launch) {
  Json record = {{"kind", "left"}, {"launch", launch}};
  add_identity(record, point);
  record["reason"] = problem;
  return record;
}

Json end_record(int launch, double stated, double took, size_t points, int failed) {
  return {{"kind", "end"},   {"launch", launch}, {"stated_seconds", stated},
          {"seconds", took}, {"points", points}, {"failed", failed}};
}

}  // namespace haichi::measure
