#include "replay/run/collectives.h"

#include <algorithm>

#include "replay/run/elements.h"
#include "replay/run/must.h"

namespace haichi::replay {
namespace {

class Carrier {
 public:
  Carrier(const CollectiveCall& call, const Amounts& amounts, Room& room)
      : call_(call),
        amounts_(amounts),
        room_(room),
        comm_(call.comm.handle),
        size_(call.comm.size),
        rank_(call.comm.rank),
        root_(call.event.root < 0 ? 0 : call.comm.rank_of[size_t(call.event.root)]),
        bytes_(std::max<int64_t>(call.event.bytes, 0)) {}

  void carry_out() {
    if (call_.sums != nullptr)
      varying();
    else if (is_reduction(call_.function.collective))
      reduction();
    else
      fixed();
  }

 private:
  template <class Blocking, class Nonblocking, class... Args>
  void make(Blocking blocking, Nonblocking nonblocking, Args... args) {
    must(call_.function.form == Form::nonblocking ? nonblocking(args..., &room_.request)
                                                  : blocking(args...));
  }

  void fixed() {
    const auto& dims = call_.comm.recorded->dims;
    const int64_t peers =
        is_among_neighbours(call_.function.collective) ? 2 * int64_t(dims.size()) : size_;
    const auto [type, unit, n] = block(peers);
    char* const one = room_.out(n * unit);
    switch (call_.function.collective) {
      case Collective::barrier:
        return make(MPI_Barrier, MPI_Ibarrier, comm_);
      case Collective::bcast:
        return make(MPI_Bcast, MPI_Ibcast, one, n, type, root_, comm_);
      case Collective::gather:
        return make(MPI_Gather, MPI_Igather, one, n, type, all(rank_ == root_, peers), n, type,
                    root_, comm_);
      case Collective::scatter:
        return make(MPI_Scatter, MPI_Iscatter, all(rank_ == root_, peers), n, type, one, n, type,
                    root_, comm_);
      case Collective::allgather:
        return make(MPI_Allgather, MPI_Iallgather, one, n, type, all(true, peers), n, type, comm_);
      case Collective::alltoall:
        return make(MPI_Alltoall, MPI_Ialltoall, room_.out(n * unit * peers), n, type,
                    all(true, peers), n, type, comm_);
      case Collective::neighbor_allgather:
        return make(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, one, n, type, all(true, peers),
                    n, type, comm_);
      case Collective::neighbor_alltoall:
        return make(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, room_.out(n * unit * peers), n,
                    type, all(true, peers), n, type, comm_);
      default:
        return;
    }
  }

  struct Block {
    MPI_Datatype type;
    int64_t unit;
    int count;
  };
  // What goes to or comes from one rank; the unit is the same on all.
  Block block(int64_t peers) const {
    const auto unit = amounts_.unit(bytes_ * peers);
    return {unit.type, unit.bytes, unit.count(bytes_)};
  }

  // Memory for what all send or receive.
  char* all(bool needed, int64_t peers) {
    const auto unit = amounts_.unit(bytes_ * peers);
    return room_.in(needed ? unit.whole(bytes_) * peers : 0);
  }

  void reduction() {
    const auto [type, op, n] = elements_of(bytes_);
    char* const from = room_.out(bytes_ * (scatters_blocks() ? size_ : 1));
    char* const to = room_.in(bytes_);
    switch (call_.function.collective) {
      case Collective::reduce:
        return make(MPI_Reduce, MPI_Ireduce, from, to, n, type, op, root_, comm_);
      case Collective::allreduce:
        return make(MPI_Allreduce, MPI_Iallreduce, from, to, n, type, op, comm_);
      case Collective::scan:
        return make(MPI_Scan, MPI_Iscan, from, to, n, type, op, comm_);
      case Collective::exscan:
        return make(MPI_Exscan, MPI_Iexscan, from, to, n, type, op, comm_);
      case Collective::reduce_scatter_block:
        return make(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, from, to, n, type, op,
                    comm_);
      default:
        room_.counts.assign(size_t(size_), n / size_);
        for (int i = 0; i < n % size_; ++i) ++room_.counts[size_t(i)];
        return make(MPI_Reduce_scatter, MPI_Ireduce_scatter, from, to, room_.counts.data(), type,
                    op, comm_);
    }
  }

  bool scatters_blocks() const {
    return call_.function.collective == Collective::reduce_scatter_block;
  }

  // --- Varying sizes ---------------------------------------------------------------------------

  void varying() {
    const Sums& sums = *call_.sums;
    int64_t largest = 0;
    for (int i = 0; i < size_; ++i) largest += sums.sent[size_t(i)];
    const auto unit = amounts_.unit(largest);
    const auto own = [&](int i) { return unit.count(sums.sent[size_t(i)]); };
    switch (call_.function.collective) {
      case Collective::gatherv:
        lay_out(room_.in_counts, room_.in_starts, own);
        return make(MPI_Gatherv, MPI_Igatherv, room_.out(own(rank_) * unit.bytes), own(rank_),
                    unit.type, room_.in(rank_ == root_ ? end_in() * unit.bytes : 0),
                    room_.in_counts.data(), room_.in_starts.data(), unit.type, root_, comm_);
      case Collective::scatterv:
        lay_out(room_.counts, room_.starts, own);
        return make(MPI_Scatterv, MPI_Iscatterv,
                    room_.out(rank_ == root_ ? end_out() * unit.bytes : 0), room_.counts.data(),
                    room_.starts.data(), unit.type, room_.in(own(rank_) * unit.bytes), own(rank_),
                    unit.type, root_, comm_);
      case Collective::allgatherv:
        lay_out(room_.in_counts, room_.in_starts, own);
        return make(MPI_Allgatherv, MPI_Iallgatherv, room_.out(own(rank_) * unit.bytes), own(rank_),
                    unit.type, room_.in(end_in() * unit.bytes), room_.in_counts.data(),
                    room_.in_starts.data(), unit.type, comm_);
      default:
        lay_out(room_.counts, room_.starts,
                [&](int to) { return unit.count(share(sums, rank_, to)); });
        lay_out(room_.in_counts, room_.in_starts,
                [&](int from) { return unit.count(share(sums, from, rank_)); });
        return make(MPI_Alltoallv, MPI_Ialltoallv, room_.out(end_out() * unit.bytes),
                    room_.counts.data(), room_.starts.data(), unit.type,
                    room_.in(end_in() * unit.bytes), room_.in_counts.data(), room_.in_starts.data(),
                    unit.type, comm_);
    }
  }

  template <class Count>
  void lay_out(std::vector<int>& counts, std::vector<int>& starts, Count count) const {
    counts.resize(size_t(size_));
    starts.resize(size_t(size_));
    int at = 0;
    for (int i = 0; i < size_; ++i) {
      counts[size_t(i)] = count(i);
      starts[size_t(i)] = at;
      at += counts[size_t(i)];
    }
  }

  int64_t end_out() const { return int64_t{room_.starts.back()} + room_.counts.back(); }
  int64_t end_in() const { return int64_t{room_.in_starts.back()} + room_.in_counts.back(); }

  const CollectiveCall& call_;
  const Amounts& amounts_;
  Room& room_;
  const MPI_Comm comm_;
  const int size_, rank_, root_;
  const int64_t bytes_;
};

}  // namespace

void carry_out(const CollectiveCall& call, const Amounts& amounts, Room& room) {
  Carrier(call, amounts, room).carry_out();
}

}  // namespace haichi::replay
