// What rank 0 does: takes the points in turn, keeps what they gave, writes it as it is known, and
// says how far it is.
#pragma once

#include <optional>
#include <vector>

#include "measure/forecast.h"
#include "measure/records.h"
#include "measure/run/crew.h"
#include "measure/run/options.h"
#include "measure/samples_file.h"
#include "measure/timetable.h"

namespace haichi::measure {

class Campaign {
 public:
  Campaign(const Options& options, const std::vector<Point>& points, SamplesFile& file, int launch);

  /// Looks at some points first and says what all will take, then measures all; an error if the
  /// file can no longer be written.
  Status run(Crew& crew);
  /// How many points could not be measured.
  int failed() const { return failed_; }
  /// What was measured, those sizes with it that were not planned.
  std::vector<Point> all_points() const;
  std::vector<Found> all_found() const;

 private:
  Statement look_ahead(Crew& crew);
  void say(const Statement& statement) const;
  void visit(Crew& crew, int point, double seconds);
  void visit(Crew& crew, int point, int64_t bytes, double seconds, Found& found);
  double elapsed() const;
  Status measure_points(Crew& crew, double budget);
  Status refine(Crew& crew);
  Found probe(Crew& crew, int point, int64_t bytes, double seconds);
  Status write_finished();
  void keep(Found& found, const VisitResult& result) const;
  void show_progress(double elapsed, const Point& point);

  const Options& options_;
  const std::vector<Point>& points_;
  SamplesFile& file_;
  int launch_;
  int64_t start_ns_ = 0;
  double budget_;
  double limit_;  // seconds after which what is not visited is given up
  LookedAt looked_at_;
  std::optional<Timetable> timetable_;  // once it is known what points take
  std::vector<Found> found_;
  std::vector<Point> more_points_;  // of refining
  std::vector<Found> more_found_;
  int failed_ = 0;
  double shown_ = 0;
  bool terminal_;
};

}  // namespace haichi::measure
