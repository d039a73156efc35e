// What a prediction tells at its end: sums by rank and by function, and why ranks did not get to
// their ends.
//
// PURE.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "predict/calls.h"
#include "predict/job.h"
#include "predict/strand.h"
#include "predict/traffic.h"

namespace haichi::predict {

class Books {
 public:
  static constexpr int kComputing = 0;  ///< stands for a function on paths

  explicit Books(const Job& job);

  struct Shape {
    Call call;
    int function;
  };
  const Shape& shape(int rank, int event) const { return *shapes_[size_t(rank)].at(size_t(event)); }
  const std::string& function(int number) const { return functions_[size_t(number)].function; }

  /// What a message of the function takes is by the machine's numbers alone.
  void by_numbers(int function) { functions_[size_t(function)].by_numbers = true; }
  /// A rank's call is over.
  void finish(const Strand& strand);
  /// A rank is over.
  void end(const Strand& strand) { ranks[size_t(strand.rank)].end = strand.clock; }
  void problem(std::string line) { problems_.push_back(std::move(line)); }
  Outcome close(const std::vector<Strand>& strands, const Traffic& traffic, const Job& job,
                const PathKeys& keys, const std::vector<std::string>& notes);

  std::vector<RankShare> ranks;
  int64_t events = 0;

 private:
  void tell_stopped(const std::vector<Strand>& strands, const Job& job);

  std::vector<FunctionShare> functions_;
  std::map<std::string, Shape> by_name_;
  std::vector<std::vector<const Shape*>> shapes_;  // by rank and event
  std::vector<std::string> problems_;
};

}  // namespace haichi::predict
