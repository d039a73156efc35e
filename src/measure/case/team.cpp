#include "measure/case/team.h"

namespace haichi::measure {
namespace {

MPI_Comm copy_of(MPI_Comm comm) {
  MPI_Comm copy;
  must(MPI_Comm_dup(comm, &copy));
  return copy;
}

int rank_in_job() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

}  // namespace

Team::Team(MPI_Comm comm) : comm_(copy_of(comm)), clock_(comm_) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
}

Team::~Team() { MPI_Comm_free(&comm_); }

bool Team::any(bool mine) const {
  int all = mine;
  must(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, comm_));
  return all != 0;
}

int Team::least(int mine) const {
  must(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MIN, comm_));
  return mine;
}

std::string Team::problem_of_any(const std::string& mine) const {
  const int first = least(mine.empty() ? ranks_ : rank_);
  if (first == ranks_) return "";
  std::string text = rank_ == first ? fmt::format("{} (rank {})", mine, rank_in_job()) : "";
  int length = int(text.size());
  must(MPI_Bcast(&length, 1, MPI_INT, first, comm_));
  text.resize(size_t(length));
  must(MPI_Bcast(text.data(), length, MPI_CHAR, first, comm_));
  return text;
}

}  // namespace haichi::measure
