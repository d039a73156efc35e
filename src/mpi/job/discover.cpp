#include "mpi/job/discover.h"

#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "base/os.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/job/node_address.h"
#include "placement/difference.h"
#include "placement/formats.h"
#include "placement/host.h"

namespace haichi::mpi {
namespace {

using placement::Placement;

// No placement of kMaxRanks ranks comes near this; MPI counts are ints.
constexpr int64_t kMostFileBytes = int64_t{1} << 30;

// What each rank tells all others. Fixed size: one allgather does it. Names are for people and may
// be cut short; the identity decides. An address that does not fit is not told.
struct Record {
  uint64_t identity;
  uint64_t ballot;
  int32_t core, cores, numa_node;
  char name[27];     // not terminated if it fills the field
  char address[64];  // the same
  char has_file;
};
static_assert(sizeof(Record) == 120);

template <size_t n>
std::string text_of(const char (&field)[n]) {
  return {field, strnlen(field, n)};
}

Status checked(int code, const char* function) {
  if (code == MPI_SUCCESS) return {};
  return fail(EIO, "{} failed with MPI error {}", function, code);
}

Record own_record(MPI_Comm comm, int rank, bool has_file, uint64_t ballot) {
  const placement::Host host = placement::this_host();
  const placement::RankPlace place = placement::this_place();
  Record record = {host.identity,   ballot, place.core, place.cores,
                   place.numa_node, {},     {},         has_file};
  std::string_view name = host.name;
  if (name.size() > sizeof record.name) name = name.substr(0, name.find('.'));
  name = name.substr(0, sizeof record.name);
  memcpy(record.name, name.data(), name.size());
  const std::string address = node_address(comm, rank);
  if (address.size() <= sizeof record.address)
    memcpy(record.address, address.data(), address.size());
  return record;
}

Placement by_host(const std::vector<Record>& records) {
  std::unordered_map<uint64_t, int> nodes;
  std::vector<int> node_of_rank;
  std::vector<std::string> names;
  std::vector<placement::RankPlace> places;
  node_of_rank.reserve(records.size());
  places.reserve(records.size());
  for (const Record& record : records) {
    const auto [entry, first] = nodes.try_emplace(record.identity, int(nodes.size()));
    if (first) names.push_back(text_of(record.name));
    node_of_rank.push_back(entry->second);
    places.push_back({record.core, record.cores, record.numa_node});
  }
  Placement placement(node_of_rank, std::move(names));
  placement.set_places(std::move(places));
  return placement;
}

Result<std::string> read_placement_file(const std::string& file) {
  struct stat status;
  if (::stat(file.c_str(), &status) != 0)
    return fail(EINVAL, "cannot open {}: {}", file, strerror(errno));
  if (!S_ISREG(status.st_mode)) return fail(EINVAL, "{} is not a file", file);
  if (status.st_size > kMostFileBytes)
    return fail(EINVAL, "{} has {} bytes, too many for a placement", file, status.st_size);
  return read_file(file);
}

// The file's text as `root` reads it, or why it could not, on every rank.
Result<std::string> share_file(MPI_Comm comm, int root, int rank, const std::string& file) {
  struct {
    int64_t size;
    int64_t failed;
  } header = {};
  std::string text;
  if (rank == root) {
    const auto read = read_placement_file(file);
    text = read ? file + '\0' + *read : read.error().text;
    header = {int64_t(text.size()), !read};
  }
  const Handles& h = handles();
  auto done = checked(real().Bcast(&header, sizeof header, h.byte, root, comm), "MPI_Bcast");
  if (!done) return tl::unexpected(done.error());
  text.resize(size_t(header.size));
  done = checked(real().Bcast(text.data(), int(text.size()), h.byte, root, comm), "MPI_Bcast");
  if (!done) return tl::unexpected(done.error());
  if (header.failed) return fail(EINVAL, "HAICHI_PLACEMENT: {}", text);
  return text;
}

// What the first rank of each node says of its address. A node of a file, which may be played, has
// the address that stands there.
void take_addresses(Placement& placement, const std::vector<Record>& records) {
  std::vector<std::string> addresses;
  bool some = false;
  for (int node = 0; node < placement.nodes(); ++node) {
    std::string address = placement.node_address(node);
    if (address.empty()) address = text_of(records[size_t(placement.ranks_on(node)[0])].address);
    some = some || !address.empty();
    addresses.push_back(std::move(address));
  }
  if (some) placement.set_node_addresses(std::move(addresses));
}

// Replaces the nodes of `found` by those of the file.
Result<Placement> overridden(MPI_Comm comm, int root, int rank, const std::string& file,
                             const Placement& found) {
  const auto shared = share_file(comm, root, rank, file);
  if (!shared) return tl::unexpected(shared.error());
  const size_t end = shared->find('\0');  // the name of root's file comes first
  auto given = placement::parse(std::string_view(*shared).substr(end + 1), found.ranks());
  if (!given)
    return fail(EINVAL, "HAICHI_PLACEMENT={}: {}", shared->substr(0, end), given.error().text);
  if (given->places().empty()) given->set_places({found.places().begin(), found.places().end()});
  return given;
}

// A communicator's group, freed with this.
class Group {
 public:
  explicit Group(MPI_Comm comm) : group_(handles().group_null) {
    valid_ = real().Comm_group(comm, &group_) == MPI_SUCCESS;
  }
  ~Group() {
    if (valid_) real().Group_free(&group_);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  bool valid() const { return valid_; }
  MPI_Group get() const { return group_; }

 private:
  MPI_Group group_;
  bool valid_;
};

// Ranks 0..n-1 of `from` as ranks of `to`; MPI_UNDEFINED for those that are not in it.
Result<std::vector<int>> translated(MPI_Comm from, int n, MPI_Comm to) {
  const Group inner(from), outer(to);
  if (!inner.valid() || !outer.valid()) return fail(EIO, "MPI_Comm_group failed");
  std::vector<int> ranks(static_cast<size_t>(n)), result(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) ranks[size_t(i)] = i;
  const auto done = checked(
      real().Group_translate_ranks(inner.get(), n, ranks.data(), outer.get(), result.data()),
      "MPI_Group_translate_ranks");
  if (!done) return tl::unexpected(done.error());
  return result;
}

struct Extent {
  int rank, size;
};

Result<Extent> extent_of(MPI_Comm comm) {
  int inter = 0;
  Extent extent = {};
  auto done = checked(real().Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (done && inter)
    return fail(EINVAL, "an intercommunicator has two groups of ranks, and no placement");
  if (done) done = checked(real().Comm_rank(comm, &extent.rank), "MPI_Comm_rank");
  if (done) done = checked(real().Comm_size(comm, &extent.size), "MPI_Comm_size");
  if (!done) return tl::unexpected(done.error());
  return extent;
}

}  // namespace

Result<Placement> discover(MPI_Comm comm, const std::string& file, Ballot* ballot) {
  const auto extent = extent_of(comm);
  if (!extent) return tl::unexpected(extent.error());
  const Record mine = own_record(comm, extent->rank, !file.empty(), ballot ? ballot->mine : 0);
  std::vector<Record> records(static_cast<size_t>(extent->size));
  const MPI_Datatype byte = handles().byte;
  const auto done = checked(
      real().Allgather(&mine, int(sizeof mine), byte, records.data(), int(sizeof mine), byte, comm),
      "MPI_Allgather");
  if (!done) return tl::unexpected(done.error());
  if (ballot)
    ballot->alike = std::all_of(records.begin(), records.end(),
                                [&](const Record& r) { return r.ballot == mine.ballot; });
  Result<Placement> found = by_host(records);
  for (int root = 0; root < extent->size; ++root)
    if (records[size_t(root)].has_file) {
      found = overridden(comm, root, extent->rank, file, *found);
      break;
    }
  if (found) take_addresses(*found, records);
  return found;
}

Result<std::vector<int>> world_ranks(MPI_Comm comm) {
  const auto extent = extent_of(comm);
  if (!extent) return tl::unexpected(extent.error());
  if (comm == handles().comm_world) {  // others' groups are looked through rank by rank
    std::vector<int> same(size_t(extent->size));
    std::iota(same.begin(), same.end(), 0);
    return same;
  }
  // Of ranks of other worlds nobody knows whether they have haichi, and one that has not comes to
  // no agreement.
  auto ranks = translated(comm, extent->size, handles().comm_world);
  if (ranks && std::find(ranks->begin(), ranks->end(), MPI_UNDEFINED) != ranks->end())
    return fail(EINVAL, "the communicator has ranks of another MPI_COMM_WORLD");
  return ranks;
}

Result<Placement> placement_of(MPI_Comm comm, const Placement& world) {
  const auto ranks = world_ranks(comm);
  if (!ranks) return tl::unexpected(ranks.error());
  return world.subset(*ranks);
}

Result<std::string> cross_check(MPI_Comm comm, const Placement& placement) {
  const auto extent = extent_of(comm);
  if (!extent) return tl::unexpected(extent.error());
  const Handles& h = handles();
  MPI_Comm shared = h.comm_null;
  auto done = checked(
      real().Comm_split_type(comm, MPI_COMM_TYPE_SHARED, extent->rank, h.info_null, &shared),
      "MPI_Comm_split_type");
  if (!done) return tl::unexpected(done.error());
  // Ordered by rank, so its rank 0 is the lowest of the node and can stand for it.
  const auto first = translated(shared, 1, comm);
  std::vector<int> leaders(static_cast<size_t>(extent->size));
  const int leader = first ? (*first)[0] : extent->rank;
  done = checked(real().Allgather(&leader, int(sizeof leader), h.byte, leaders.data(),
                                  int(sizeof leader), h.byte, comm),
                 "MPI_Allgather");
  real().Comm_free(&shared);
  if (!first) return tl::unexpected(first.error());
  if (!done) return tl::unexpected(done.error());
  return placement::difference(placement, Placement(leaders), "MPI_COMM_TYPE_SHARED");
}

}  // namespace haichi::mpi
