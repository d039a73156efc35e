// What the run report says of a collective that haichi chose algorithms for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace haichi::mpi {

/// One key of one communicator, as its rank 0 saw it.
struct CollectiveRecord {
  struct Candidate {
    std::string name;            ///< "library", or as collectives::Candidate::text()
    std::vector<double> trials;  ///< seconds, mean over the ranks
    bool dropped = false;
    int64_t steady_calls = 0;   ///< that were no trials
    double steady_seconds = 0;  ///< of rank 0 in these
    double predicted = -1;      ///< seconds; -1: nothing was predicted
    std::string reason = {};    ///< of the model, to try it or not
  };
  std::string collective;
  int ranks = 0, nodes = 0;
  int size_bin = -1;
  int64_t calls = 0;
  int retries = 0;
  bool locked = false;
  double seconds = 0;  ///< of this rank in all calls that were counted
  std::string chosen;
  std::string why;
  std::vector<Candidate> candidates;
};

/// Keeps a record until the report is written; thread-safe, and bounded: later ones are counted.
void keep_collective_record(CollectiveRecord record);

/// What was kept, and how many more there were.
std::vector<CollectiveRecord> kept_collective_records(int64_t& not_listed);

}  // namespace haichi::mpi
