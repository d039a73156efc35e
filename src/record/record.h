// What haichi.record/1 tells of a run, as its readers have it (docs/guide/formats.md). Seconds and
// bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/placement.h"
#include "record/sequence.h"

namespace haichi::record {

/// The machine it ran on, as haichi.machine/2 tells machines apart.
struct Signature {
  std::string library, processor;
  int cores = 0;
  std::vector<std::string> node_names;
};

struct Communicator {
  int id = 0;
  std::string name;
  std::vector<int> members;  ///< world ranks, in the order of the communicator's
  std::vector<int> dims;     ///< of a Cartesian one
  std::vector<bool> periods;
  bool graph = false;
  std::vector<int> remote;  ///< the other group of an intercommunicator
};

struct File {
  int id = 0;
  std::string name;
};

/// Where a call stands in the program: an address within an object.
struct Site {
  int id = 0;
  std::string object;
  uint64_t offset = 0;
};

/// One rank's sums, from the end of MPI_Init to the begin of MPI_Finalize.
struct RankTimes {
  int rank = 0;
  double wall_s = 0, mpi_s = 0, compute_s = 0, cpu_s = 0;
  uint64_t calls = 0, calls_without_key = 0;
  bool finalized = true;  ///< false: the job ended before
  bool full = false;      ///< memory was full, and some calls have no key
};

/// Calls that are alike, of one rank or of several with the same numbers.
struct Calls {
  std::vector<int> ranks;
  std::string function;
  std::string begun_by;  ///< "for": of a wait, what began the requests
  int64_t bytes = -1;
  std::string type, place;
  int comm = -1, file = -1, site = -1;
  std::string view;
  bool first_use = false;
  uint64_t count = 0;
  double first_s = 0, total_s = 0, least_s = 0, most_s = 0;
  std::optional<double> wait_s;  ///< of total_s, before the others had come; with --sync
  int histogram_first = 0;       ///< bucket of histogram[0]; a bucket is floor(4 log2(ns))
  std::vector<uint64_t> histogram;
};

/// What a rank sent to others.
struct Traffic {
  int rank = 0;
  bool one_sided = false;
  std::vector<int> to;
  std::vector<uint64_t> messages, bytes;  ///< of to[i]
};

struct Record {
  std::string by, started, abi;
  std::vector<std::string> program;
  int ranks = 0;
  placement::Placement placement;
  Signature signature;
  bool sync = false;
  std::vector<Communicator> communicators;  ///< in ascending order of ids, as the next two
  std::vector<File> files;
  std::vector<Site> sites;
  std::vector<RankTimes> times;
  std::vector<Calls> calls;
  std::vector<Traffic> traffic;
  std::vector<std::optional<Sequence>> sequences;  ///< of each rank, where there is one
  bool complete = false;                           ///< has its last line
  /// What its reader should be told, a line each: where it is cut off, what is left out.
  std::vector<std::string> notes;

  const Communicator* communicator(int id) const;  ///< null if there is none
};

}  // namespace haichi::record
