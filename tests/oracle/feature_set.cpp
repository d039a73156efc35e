#include "oracle/feature_set.h"

namespace oracle {

const std::vector<FeatureRow>& feature_table() {
  static const std::vector<FeatureRow> table = {
      {"pair-memory", "pair types such as MPI_DOUBLE_INT in memory types"},
      {"pair-view", "pair types in etypes and filetypes"},
      {"f90-memory", "MPI_Type_create_f90_* in memory types"},
      {"f90-view", "MPI_Type_create_f90_* in etypes and filetypes"},
      {"negative", "memory types with negative displacements, strides or lower bounds"},
      {"permuted", "memory types whose blocks are not in ascending order"},
      {"resized-memory", "resized memory types"},
      {"resized-view", "resized filetypes and etypes"},
      {"lower-view", "filetypes with a lower bound other than 0"},
      {"shifted-view", "filetypes whose data reach beyond their upper bound"},
      {"one-tile", "filetypes whose extent is too small to repeat them, used for one tile"},
      {"array-memory", "subarray and darray memory types"},
      {"array-view", "subarray and darray filetypes"},
      {"nested-memory", "memory types of more than one constructor"},
      {"nested-view", "filetypes of more than one constructor"},
      {"zero-length", "zero counts and zero-length blocks inside types"},
      {"long-double", "MPI_LONG_DOUBLE and its pair type: six bytes of sixteen are padding"},
      {"overlap-memory", "memory types that send bytes more than once"},
      {"idle", "ranks that take part with nothing to do"},
      {"empty-view", "filetypes without any data"},
      {"etype", "etypes larger than a byte"},
      {"eof", "reads across the end of the file"},
      {"overlap", "ranks that access the same bytes in one call"},
      {"bottom", "MPI_BOTTOM with absolute addresses"},
      {"far", "file offsets beyond 4 GiB"},
      {"hints", "hints that choose aggregators, small buffers, layouts and orders"},
      {"seek-end", "MPI_SEEK_END"},
      {"independent", "independent reads and writes between the collective ones"},
      {"split", "split collectives"},
      {"nonblocking", "nonblocking collectives"},
      {"shared", "accesses at the shared file pointer: ordered ones, and of a rank on its own"},
      {"reread", "filetypes that show bytes more than once, in files opened for reading only"},
      {"subcomm", "files opened by some of the ranks, in another order"},
      {"gaps", "interleaved pieces far apart, so that most of the range is holes"},
      {"single", "files opened by one rank alone, which haichi leaves to the MPI library"}};
  return table;
}

std::optional<std::string> parse_features(const std::vector<FeatureRow>& table,
                                          std::string_view list, std::bitset<64>& named) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    size_t i = 0;
    while (i < table.size() && word != table[i].name) ++i;
    if (i == table.size()) return std::string(word);
    named.set(i);
    if (comma == list.npos) break;
    list.remove_prefix(comma + 1);
  }
  return {};
}

}  // namespace oracle
