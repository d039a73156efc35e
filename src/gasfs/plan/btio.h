// What BTIO, the benchmark of the paper, writes: the records of each rank, and how many requests
// and seeks they come to. Known beforehand to the last digit, so it tells whether arranging works.
//
// PURE: no clock, no file, no environment.
// Paper 002, section 4.3 and table 3; NAS-03-002 (NPB I/O 2.4) for the cells and the records.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gasfs/plan/arrange.h"

namespace haichi::gasfs {

/// A class of the benchmark: a grid of n x n x n records, written whole `snapshots` times, one
/// behind the other.
struct BtioClass {
  char name = 'S';
  uint32_t n = 0;
  uint32_t snapshots = 0;
};
inline constexpr uint64_t kBtioRecord = 40;  // bytes: five numbers of one point

std::optional<BtioClass> btio_class(std::string_view name);

/// Who writes: ranks = q x q of them, `per_node` on a node; in blocks (rank / per_node is the node)
/// or dealt out (rank mod nodes).
struct BtioJob {
  BtioClass size;
  uint32_t nodes = 1;
  uint32_t per_node = 1;
  bool blocks = true;
};

/// EINVAL if the number of ranks is no square, or a rank would have no record.
Status check(const BtioJob& job);
uint32_t node_of(const BtioJob& job, uint32_t rank);

/// The offsets, in bytes, of the records that `rank` writes in `snapshot`, as the program does.
std::vector<uint64_t> btio_records(const BtioJob& job, uint32_t rank, uint32_t snapshot);

struct RequestCounts {
  uint64_t records = 0;   // writes of the program
  uint64_t requests = 0;  // writes of the servers
  uint64_t seeks = 0;     // of these, such as do not begin where the one before ended
};

/// When the dispatcher of a node arranges what it has gathered.
enum class Gathering { none, snapshot, whole };

/// Counts what the servers do. Without arranging the ranks of all nodes take turns, record by
/// record; with it each node's runs come at once, node by node. `whole`: only when the file is
/// closed.
RequestCounts count_btio(const BtioJob& job, const Layout& layout, Gathering gathering);

}  // namespace haichi::gasfs
