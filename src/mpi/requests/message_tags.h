// The communicator that carries the messages of nonblocking collectives, and its tags.
//
// It is one for all, a duplicate of MPI_COMM_WORLD that is made at MPI_Init. What keeps operations
// of different communicators apart are tags: each rank receives under tags of its own, which it
// tells the others when all of them are there anyway. So no communicator costs another one, and no
// tag needs an agreement. See docs/adr/0015-nonblocking-exchanges.md.
//
// Thread-safe.
#pragma once

#include <mpi.h>

#include <vector>

namespace haichi::mpi {

/// Collective over MPI_COMM_WORLD, right after MPI_Init: makes the communicator.
void make_message_comm();

/// MPI_COMM_NULL if there is none.
MPI_Comm message_comm();

/// A tag under which nobody else on this rank receives.
class MessageTag {
 public:
  /// Takes one; none if all are in use.
  MessageTag();
  /// Gives it back. All messages under it must have been received.
  ~MessageTag();
  MessageTag(MessageTag&& other) noexcept : value_(other.value_) { other.value_ = kNone; }
  MessageTag(const MessageTag&) = delete;
  MessageTag& operator=(const MessageTag&) = delete;

  static constexpr int kNone = -1;
  int value() const { return value_; }

 private:
  int value_ = kNone;
};

/// The tags of all ranks of `comm`, each of which gives its own; empty on all if one has none.
/// Collective.
std::vector<int> tell_tags(MPI_Comm comm, int own);

}  // namespace haichi::mpi
