// Who carries large transfers out: the threads of this process, the plans, and whose turn it is.
//
// One engine a process, made at the first large call. It gives up wherever the plain call is as
// good: small transfers, one processor, another transfer under way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "numaio/page_map.h"
#include "numaio/piece.h"
#include "numaio/trial.h"

namespace haichi::numaio {

struct Work;

struct Options {
  int threads = 0;  ///< at most; 0: as many as the plan wants
  int64_t cold_bytes = 8 << 20;
  int64_t hot_bytes = 256 << 10;
  bool always = false;  ///< also where earlier calls were no faster split
};

/// From now on whoever asks for a transfer holds signals back by itself.
void leave_signals_to_callers();

/// Waits for the transfer under way and ends all threads; later transfers make new ones.
void end_threads();

/// How a transfer was carried out.
struct How {
  int threads = 1;
  int nodes = 1;
  int64_t local_bytes = 0;
  int64_t bytes = 0;
  std::string_view why = "no call yet";  ///< ends with a zero byte
};

Options options();
void set_options(const Options& options);

/// What the calling thread's last transfer was.
How& last();

/// Memory of this process that a transfer reads or writes.
struct Memory {
  const void* begin;
  int64_t bytes;
};

/// The other end: a file's page cache, memory, or nothing that is there yet.
using OtherEnd = std::function<PageMap(int64_t& lead)>;

/// What is to be moved.
struct Transfer {
  Memory memory;
  bool reads_memory;      ///< the memory is the source, else the target
  OtherEnd other;         ///< empty: follows the threads; asked on several nodes only
  int64_t origin, align;  ///< pieces end at multiples of align behind origin
};

/// The right to use the threads, for one transfer. Signals wait meanwhile, so that no handler can
/// leave (longjmp) while threads move bytes of a buffer that its frame owns.
class Turn {
 public:
  struct Crew;
  /// Whether a call of so many bytes is not worth even a look; last().why says so then. Costs a few
  /// nanoseconds, as every small call has them on top.
  static bool too_small(int64_t bytes);
  /// Nothing, and last().why says why, if the plain call is better. Calls of one `kind` and about
  /// one size are compared with each other by the time until their turn ends.
  static std::unique_ptr<Turn> take(int64_t bytes, uint64_t kind);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// Bytes at the beginning of a large transfer that are to be moved plainly before run(), to learn
  /// what that takes; 0 in most calls, and on several nodes. began_plainly() says that they are,
  /// and run() moves the rest.
  int64_t plain_part();
  void began_plainly(int64_t bytes);
  /// Moves all of it by `move`, which must not throw. False, and nothing is moved, if the plain
  /// call is better; it is to be made before this turn ends.
  bool run(const Transfer& transfer, const std::function<void(const Piece&, int node)>& move);
  /// The time of this turn tells nothing of others.
  void forget_time() { trial_ = nullptr; }
  /// Calls task(number) for 0 to the size of `nodes`, each on a thread of that node, tasks of a
  /// node in order of their start. False as run().
  bool run_each(const std::vector<int>& nodes, const std::function<void(int number)>& task);
  /// The node that has most of this memory, or the caller's.
  int node_of(const Memory& memory) const;

 private:
  struct Signals;
  bool pays() const;
  /// The node of the calling thread.
  int here() const;
  /// Has the pool move all pieces; last() then is `how`, with threads and nodes filled in.
  void carry_out(const Work& work, How how,
                 const std::function<void(const Piece&, int node)>& move);
  Turn(Crew& crew, std::unique_ptr<Signals> signals, int64_t bytes, uint64_t kind);
  Crew& crew_;
  std::unique_ptr<Signals> signals_;
  Trial* trial_;  // null for what is too large to be tried as a whole
  const uint64_t kind_;
  bool split_ = false;
  int64_t bytes_, begin_ns_;
};

}  // namespace haichi::numaio
