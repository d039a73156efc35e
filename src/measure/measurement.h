// One entry of the catalogue: what is measured, in words for the reader and as few calls for the
// harness. Everything that all measurements do alike (buffers, warming up, clocks, how often, what
// is kept) is the harness's (measure/run/visit.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace haichi::measure {

/// The calls of one measurement on one rank. The harness calls `before`, synchronises the ranks,
/// times `call`, and calls `after`. Where `before` and `after` are empty, `call` may be repeated
/// within one sample. What they use is the case's, which gives it back.
struct Body {
  std::function<void()> call;
  std::function<void()> before = {};
  std::function<void()> after = {};
};

class Case;  ///< measure/case/case.h: ranks, bytes and memory of the point that is measured

/// Which ranks take part: two, one pair for each placement class that the job has, or all.
enum class Who { pair, all };

/// How the ranks begin a sample: behind an MPI_Barrier, at once after the sample before, or all at
/// one time of the clock. An entry of the catalogue says whether samples may follow each other; how
/// those begin that may not is chosen for each launch.
enum class Start { barrier, back_to_back, window };

/// Which rank's time is the sample: the slowest rank's, or the first of those that take part.
enum class Over { slowest, first };

/// The sizes that a measurement is made with unless the user names others: powers of four from
/// `from` to `to`, in bytes. `to` of 0: it has no size.
struct Sizes {
  int64_t from = 0;
  int64_t to = 0;
};

/// Up to four MiB a message between two ranks, 256 KiB a block where all exchange, 1 MiB in files.
inline constexpr Sizes kNone{0, 0}, kMessages{4, 4 << 20}, kBlocks{4, 256 << 10},
    kAccesses{1 << 10, 1 << 20};

struct Measurement {
  std::string name;   ///< lower case with dashes; unique
  std::string group;  ///< what the user may name in its place
  /// The MPI functions that are measured, those that the coverage test counts.
  std::vector<std::string> functions;
  std::string section;  ///< of the MPI 4.1 standard
  std::string timed;    ///< the timed calls in words
  std::string sample;   ///< what one sample is, in words
  std::string buffers;  ///< how memory or the file is used, in words
  std::function<Body(Case&)> make;
  Sizes sizes = kNone;
  Who who = Who::all;
  Start start = Start::barrier;
  Over over = Over::slowest;
  int parts = 1;  ///< the value is the sample divided by this; `formula` says why
  int least_ranks = 1;
  bool wide = false;  ///< takes sizes of 2 GiB and more
  bool even = false;  ///< takes an even number of ranks only

  std::string formula() const;
};

/// In words, as files and tables have them.
const char* text_of(Who who);
const char* text_of(Start start);
const char* text_of(Over over);

}  // namespace haichi::measure
