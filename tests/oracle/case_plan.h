// One random case: how a file is opened and what is done to it, step by step, on every rank.
//
// Everything follows from (seed, number, world size, features). What ranks must agree on is in
// the Plan; what a rank does alone (its view, the datatype and count of its call) is generated
// from the Plan and the rank by the functions below, on that rank and on the one that keeps the
// model of the file. No MPI here. Offsets are in bytes unless they are called etypes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oracle/byte_model.h"
#include "oracle/feature_set.h"
#include "oracle/rng.h"
#include "oracle/type.h"

namespace oracle {

enum class StepKind {
  set_view,
  seek,
  seek_shared,
  sync,
  write_all,
  write_at_all,
  read_all,
  read_at_all,
  write_all_split,
  write_at_all_split,
  read_all_split,
  read_at_all_split,
  iwrite_all,
  iwrite_at_all,
  iread_all,
  iread_at_all,
  write_ordered,
  read_ordered,
  write_ordered_split,
  read_ordered_split,
  write,
  write_at,
  read,
  read_at,
  write_shared,
  read_shared
};
const char* name_of(StepKind kind);
bool is_write(StepKind kind);
bool is_read(StepKind kind);
bool has_offset(StepKind kind);      ///< an explicit offset, not the individual file pointer
bool is_at_shared(StepKind kind);    ///< at the shared file pointer
bool is_collective(StepKind kind);   ///< one of the calls that haichi handles
bool is_independent(StepKind kind);  ///< a call of each rank on its own

struct Step {
  StepKind kind;
  uint64_t id;  ///< names its random numbers; stays when other steps are left out
};

enum class Mode { create_rdwr, create_wronly, rdwr, wronly, rdonly };

struct Plan {
  uint64_t seed = 0;
  uint64_t number = 0;
  Features features;
  std::vector<int> members;  ///< world rank of each rank of the file's communicator
  Mode mode = Mode::create_rdwr;
  bool shared = false;     ///< all ranks have the same views, as the shared file pointer wants it
  int64_t base = 0;        ///< file offset where the case begins
  int64_t call_bytes = 0;  ///< about what one rank moves in one call
  int64_t file_bytes = 0;  ///< the case stays below base + file_bytes
  int64_t prefill_bytes = 0;  ///< size of the file, from base on, before it is opened
  std::vector<std::pair<std::string, std::string>> hints;
  std::vector<Step> steps;

  int ranks() const { return int(members.size()); }
  bool writable() const { return mode != Mode::rdonly; }
  bool readable() const { return mode != Mode::create_wronly && mode != Mode::wronly; }
};

Plan make_plan(uint64_t seed, uint64_t number, int world, const Features& features);

/// A rank's view of the file.
struct View {
  int64_t displacement = 0;
  TypePtr etype, filetype;
  int64_t limit = 0;  ///< file offset that this rank's accesses stay below
  int64_t first = 0;  ///< etype where its share of the view begins
  ViewMap map() const { return {displacement, etype, filetype}; }
};

/// The view of MPI_File_open: bytes from the start of the file.
View default_view(const Plan& plan, int rank);
View make_view(const Plan& plan, const Step& step, int rank);

struct Seek {
  enum class Whence { set, cur, end } whence = Whence::set;
  int64_t offset = 0;  ///< etypes
};
/// `position`, `file_size`: the rank's file pointer in etypes and the file's size.
Seek make_seek(const Plan& plan, const Step& step, int rank, const View& view, int64_t position,
               int64_t file_size);

/// The same of the shared file pointer; the same on all ranks.
Seek make_shared_seek(const Plan& plan, const Step& step, const View& view, int64_t position,
                      int64_t file_size);

/// A rank's part of a data access.
struct Call {
  TypePtr type;
  int64_t count = 0;
  int64_t offset = 0;   ///< etypes; explicit, or the file pointer's
  bool bottom = false;  ///< through MPI_BOTTOM
  bool ignore_status = false;
};
/// Of an access at the shared file pointer, `position` is that and `offset` too: the part of the
/// rank begins behind those of the ranks before it, which is for the caller to add.
Call make_call(const Plan& plan, const Step& step, int rank, const View& view, int64_t position,
               int64_t file_size);

/// The bytes of a rank's buffer before a step: byte `i` of it is pattern(buffer_key(...), i).
uint64_t buffer_key(const Plan& plan, const Step& step, int rank);
/// The bytes of the file before it is opened: the one at base + i is pattern(prefill_key(...), i).
uint64_t prefill_key(const Plan& plan);
inline uint8_t pattern(uint64_t key, int64_t i) { return uint8_t(mix(key + uint64_t(i))); }

std::string to_text(const Plan& plan);
std::string to_text(const Step& step, const View& view);
std::string to_text(const Step& step, const Call& call);
std::string to_text(const Seek& seek);

}  // namespace oracle
