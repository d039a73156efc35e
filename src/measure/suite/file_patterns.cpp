// Accesses by pattern, through views: what each rank has of the file lies in pieces between those
// of the others. One block for each rank is measured in file_accesses.cpp.
//
// Also the same with hints that switch off what ROMIO does about pieces, and in external32, whose
// bytes are turned round.
#include <algorithm>
#include <utility>

#include "measure/case/case.h"
#include "measure/suite/groups.h"
#include "measure/suite/scratch_file.h"

namespace haichi::measure {
namespace {

constexpr int kSegments = 8, kPieces = 64, kRows = 8;

// `pieces` of `bytes` in all, with room for those of the other ranks in between.
MPI_Datatype in_turns(Case& c, int pieces, int64_t bytes) {
  const int piece = int(bytes / pieces);
  return c.type("MPI_Type_vector", [&](MPI_Datatype* type) {
    return MPI_Type_vector(pieces, piece, piece * c.ranks, MPI_BYTE, type);
  });
}

// Rows of pieces, with room for as much again behind each row: a vector of vectors.
MPI_Datatype nested(Case& c) {
  const MPI_Datatype row = in_turns(c, kPieces / kRows, c.bytes / kRows);
  const MPI_Aint apart = 2 * c.bytes / kRows * c.ranks;
  return c.type("MPI_Type_create_hvector", [&](MPI_Datatype* type) {
    return MPI_Type_create_hvector(kRows, 1, apart, row, type);
  });
}

struct Pattern {
  const char* name;
  const char* words;
  MPI_Datatype (*type)(Case&);
  int pieces;  // of a rank: how far apart the ranks' first ones are
};
const Pattern kPatterns[] = {
    {"segmented", "8 blocks, ranks taking turns",
     [](Case& c) { return in_turns(c, kSegments, c.bytes); }, kSegments},
    {"strided", "64 pieces, ranks taking turns",
     [](Case& c) { return in_turns(c, kPieces, c.bytes); }, kPieces},
    {"nested", "8 rows of 8 pieces, ranks taking turns", nested, kPieces},
};

using Call = int (*)(MPI_File, MPI_Offset, char*, int);

template <auto call>
int access(MPI_File file, MPI_Offset offset, char* memory, int count) {
  return call(file, offset, memory, count, MPI_BYTE, MPI_STATUS_IGNORE);
}

struct Access {
  const char* name;
  const char* function;  // without "MPI_"
  Call call;
};
const Access kAccess[] = {{"write", "File_write_at", access<MPI_File_write_at>},
                          {"read", "File_read_at", access<MPI_File_read_at>},
                          {"write-all", "File_write_at_all", access<MPI_File_write_at_all>},
                          {"read-all", "File_read_at_all", access<MPI_File_read_at_all>}};

struct Hints {
  const char* suffix;
  const char* words;
  std::vector<std::pair<const char*, const char*>> values;
};

Body in_pattern(Case& c, const Pattern& pattern, Call call, const Hints& hints) {
  if (c.bytes % kPieces != 0)
    throw CallFailed(fmt::format("of {} bytes no {} pieces can be made", c.bytes, kPieces));
  need_locks(c);  // of whoever reads and writes again what lies between the pieces
  char* const memory = c.memory(c.bytes);
  const MPI_File file = scratch_file(c);
  const MPI_Info info = c.info();
  c.alone("MPI_Info_set", [&] {
    for (const auto& [key, value] : hints.values) must(MPI_Info_set(info, key, value));
  });
  const MPI_Datatype type = pattern.type(c);
  const MPI_Offset first = c.bytes / pattern.pieces * c.rank;
  c.together("MPI_File_set_view",
             [&] { must(MPI_File_set_view(file, first, MPI_BYTE, type, "native", info)); });
  // So that there is something to read, and pages to write into.
  MPI_Status status;
  c.together("MPI_File_write_at_all",
             [&] { must(MPI_File_write_at_all(file, 0, memory, c.count(), MPI_BYTE, &status)); });
  must_be_whole(&status, c.count());
  return {.call = [=, &c] { must(call(file, 0, memory, c.count())); }};
}

Measurement entry(std::string name, std::string function, std::string timed) {
  return {.name = std::move(name),
          .group = "file-pattern",
          .functions = {"MPI_" + function},
          .section = "14.4",
          .timed = std::move(timed),
          .sample = "the call on all ranks, begun behind a barrier",
          .buffers = "the same bytes of a file and of memory each time: in the page cache",
          .sizes = {16 << 10, 1 << 20}};
}

void add(const Pattern& pattern, const Access& way, const Hints& hints,
         std::vector<Measurement>& all) {
  Measurement one =
      entry(fmt::format("file-{}-{}{}", pattern.name, way.name, hints.suffix), way.function,
            fmt::format("{} through a view of {}{}", way.function, pattern.words, hints.words));
  one.make = [pattern, call = way.call, hints](Case& c) {
    return in_pattern(c, pattern, call, hints);
  };
  all.push_back(std::move(one));
}

template <auto call>
int of_ints(MPI_File file, MPI_Offset offset, char* memory, int count) {
  return call(file, offset, memory, count, MPI_INT, MPI_STATUS_IGNORE);
}

Measurement external32(const char* name, const char* function, Call call) {
  Measurement one = entry(name, function, std::string(function) + " of ints in external32");
  one.make = [call](Case& c) {
    char* const memory = c.memory(c.bytes);
    const MPI_File file = scratch_file(c);
    const int ints = std::max(1, int(c.bytes / int64_t(sizeof(int))));
    c.together("MPI_File_set_view", [&] {
      must(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    });
    const MPI_Offset first = MPI_Offset(ints) * c.rank;
    MPI_Status status;
    c.alone("MPI_File_write_at",
            [&] { must(MPI_File_write_at(file, first, memory, ints, MPI_INT, &status)); });
    must_be_whole(&status, ints * int(sizeof(int)));
    return Body{.call = [=] { must(call(file, first, memory, ints)); }};
  };
  return one;
}

}  // namespace

std::vector<Measurement> file_patterns() {
  const Hints none{"", "", {}};
  const Hints no_buffer{"-no-cb",
                        "; the hints romio_cb_write and romio_cb_read are disable",
                        {{"romio_cb_write", "disable"}, {"romio_cb_read", "disable"}}};
  const Hints no_sieve{"-no-ds",
                       "; the hints romio_ds_write and romio_ds_read are disable",
                       {{"romio_ds_write", "disable"}, {"romio_ds_read", "disable"}}};
  std::vector<Measurement> all;
  for (const Pattern& pattern : kPatterns)
    for (const Access& way : kAccess) add(pattern, way, none, all);
  const Pattern& strided = kPatterns[1];
  for (const Access& way : kAccess) {
    const bool collective = std::string(way.name).ends_with("-all");
    add(strided, way, collective ? no_buffer : no_sieve, all);
  }
  all.push_back(
      external32("file-write-at-external32", "File_write_at", of_ints<MPI_File_write_at>));
  all.push_back(external32("file-read-at-external32", "File_read_at", of_ints<MPI_File_read_at>));
  all.push_back(external32("file-write-at-all-external32", "File_write_at_all",
                           of_ints<MPI_File_write_at_all>));
  return all;
}

}  // namespace haichi::measure
