#include "recorder/communicators.h"

#include <algorithm>
#include <new>
#include <numeric>

#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "placement/formats.h"
#include "recorder/handle.h"

namespace haichi::recorder {
namespace {

using mpi::handles;
using mpi::real;

std::vector<int> in_world(MPI_Group group) {
  int size = 0;
  MPI_Group world;
  if (real().Group_size(group, &size) != MPI_SUCCESS ||
      real().Comm_group(handles().comm_world, &world) != MPI_SUCCESS)
    return {};
  std::vector<int> ranks(static_cast<size_t>(size)), found(ranks.size(), MPI_UNDEFINED);
  std::iota(ranks.begin(), ranks.end(), 0);
  real().Group_translate_ranks(group, size, ranks.data(), world, found.data());
  real().Group_free(&world);
  return found;
}

using GroupOf = int (*)(MPI_Comm, MPI_Group*);

Members members_by(GroupOf group_of, MPI_Comm comm) {
  MPI_Group group;
  if (group_of(comm, &group) != MPI_SUCCESS) return {};
  std::vector<int> ranks = in_world(group);
  real().Group_free(&group);
  return Members(std::move(ranks));
}

Members world_members() {
  int size = 0;
  real().Comm_size(handles().comm_world, &size);
  std::vector<int> all(static_cast<size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return Members(std::move(all));
}

std::string list_of(const std::vector<int>& values, bool as_flags) {
  std::string text;
  for (const int value : values)
    text += fmt::format("{}{}", text.empty() ? "" : ",",
                        as_flags ? (value != 0 ? "true" : "false") : fmt::to_string(value));
  return "[" + text + "]";
}

std::string cart_of(MPI_Comm comm, Communicator& facts) {
  int count = 0;
  if (real().Cartdim_get(comm, &count) != MPI_SUCCESS || count < 0) return "";
  std::vector<int> dims(size_t(count) + 1), periods(dims), place(dims);
  if (real().Cart_get(comm, count, dims.data(), periods.data(), place.data()) != MPI_SUCCESS)
    return "";
  dims.resize(size_t(count));
  periods.resize(size_t(count));
  facts.incoming = facts.outgoing = 2 * count;
  return fmt::format(R"(,"cart":{{"dims":{},"periods":{}}})", list_of(dims, false),
                     list_of(periods, true));
}

/// Text of its topology in a definition; empty if there is none. Sets the numbers of neighbours.
std::string topology_of(MPI_Comm comm, Communicator& facts) {
  int topology = MPI_UNDEFINED, weighted = 0;
  if (real().Topo_test(comm, &topology) != MPI_SUCCESS) return "";
  if (topology == MPI_CART) return cart_of(comm, facts);
  if (topology == MPI_GRAPH) {
    real().Graph_neighbors_count(comm, facts.rank, &facts.outgoing);
    facts.incoming = facts.outgoing;
  } else if (topology == MPI_DIST_GRAPH) {
    real().Dist_graph_neighbors_count(comm, &facts.incoming, &facts.outgoing, &weighted);
  } else {
    return "";
  }
  return R"(,"graph":true)";
}

std::string name_of(MPI_Comm comm) {
  if (comm == handles().comm_world) return R"("name":"MPI_COMM_WORLD",)";
  if (comm == handles().comm_self) return R"("name":"MPI_COMM_SELF",)";
  return "";
}

std::string group_text(const char* member, const Members& members) {
  const std::string text = members.text();
  std::string shown = fmt::format(R"("{}":"{}")", member, text);
  if (text.empty()) shown += fmt::format(R"(,"{}_size":{})", member, members.size());
  return shown;
}

}  // namespace

Members::Members(std::vector<int> world_ranks) : size_(int(world_ranks.size())) {
  if (size_ == 0) return;
  first_ = world_ranks[0];
  step_ = size_ > 1 ? world_ranks[1] - world_ranks[0] : 1;
  bool even = first_ >= 0;
  for (int i = 0; even && i < size_; ++i) even = world_ranks[size_t(i)] == first_ + i * step_;
  if (even) return;
  list_ = std::move(world_ranks);
  for (int& rank : list_) rank = std::max(rank, -1);  // MPI_UNDEFINED is negative
}

std::string Members::text() const {
  std::vector<int> ranks;
  for (int i = 0; i < size_; ++i) ranks.push_back(world_rank(i));
  if (std::find(ranks.begin(), ranks.end(), -1) != ranks.end()) return "";
  return placement::to_rank_list(ranks);
}

std::shared_ptr<Communicator> Communicators::ask(MPI_Comm comm) const {
  auto facts = std::make_shared<Communicator>();
  int inter = 0;
  real().Comm_rank(comm, &facts->rank);
  real().Comm_test_inter(comm, &inter);
  facts->inter = inter != 0;
  const bool is_world = comm == handles().comm_world;
  facts->members = is_world ? world_members() : members_by(real().Comm_group, comm);
  if (facts->inter) facts->remote = members_by(real().Comm_remote_group, comm);
  facts->what = name_of(comm) + group_text("members", facts->members);
  if (facts->inter) facts->what += "," + group_text("remote", facts->remote);
  if (!facts->inter) facts->what += topology_of(comm, *facts);
  return facts;
}

// Ranks make and free the communicators of the same ranks in the same order, so a copy has the same
// number everywhere.
void Communicators::give_number(Communicator& comm) {
  std::vector<bool>& there = copies_[comm.what];
  comm.copy = int(std::find(there.begin(), there.end(), false) - there.begin());
  if (size_t(comm.copy) == there.size()) there.push_back(false);
  there[size_t(comm.copy)] = true;
  comm.number = definitions_.communicator(
      comm.copy == 0 ? comm.what : fmt::format(R"({},"copy":{})", comm.what, comm.copy));
}

const Communicator* Communicators::of(MPI_Comm valid) {
  if (valid == handles().comm_null) return nullptr;
  const uint64_t handle = bits(valid);
  if (last_ != nullptr && handle == last_handle_) return last_;
  try {
    std::shared_ptr<Communicator>& known = known_[handle];
    if (!known) {
      known = ask(valid);
      give_number(*known);
    }
    last_handle_ = handle;
    return last_ = known.get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::shared_ptr<const Communicator> Communicators::shared(MPI_Comm valid) {
  of(valid);
  const auto known = known_.find(bits(valid));
  return known == known_.end() ? nullptr : known->second;
}

void Communicators::made(MPI_Comm valid) {
  const Communicator* const facts = of(valid);
  if (facts == nullptr || facts->inter || facts->members.text().empty()) return;
  known_[bits(valid)]->all_know = true;
}

bool Communicators::all_know(MPI_Comm comm) const {
  const auto known = known_.find(bits(comm));
  return known != known_.end() && known->second && known->second->all_know;
}

uint16_t Communicators::forget(MPI_Comm comm) {
  last_ = nullptr;
  const auto known = known_.find(bits(comm));
  if (known == known_.end() || !known->second) return record::Key::kNone;
  const uint16_t number = known->second->number;
  copies_[known->second->what][size_t(known->second->copy)] = false;
  known_.erase(known);
  return number;
}

}  // namespace haichi::recorder
