#include "replay/run/player.h"

#include <algorithm>

#include "base/clock.h"
#include "replay/run/must.h"
#include "replay/run/watch.h"

namespace haichi::replay {

using record::Event;

Player::Player(const record::Record& record, const record::Sequence& sequence, RankPlan plan,
               const Communicators& comms, Compute compute, const std::string& scratch)
    : sequence_(sequence),
      plan_(std::move(plan)),
      comms_(comms),
      computing_(compute),
      windows_(amounts_, plan_.largest_one_sided),
      files_(amounts_, scratch, plan_.largest_in_file) {
  for (const auto& [id, comm] : comms_.all())
    for (size_t i = 0; i < sequence_.events.size(); ++i)
      if (sequence_.events[i].comm == id && is_varying(plan_.steps[i].function.collective))
        varying_.try_emplace(id, record, *comm.recorded);
  make_room();
}

// Memory of messages is there before the clock runs, as it is in a program that has it from the
// start.
void Player::make_room() {
  for (size_t i = 0; i < sequence_.events.size(); ++i) {
    const Event& event = sequence_.events[i];
    const Step& step = plan_.steps[i];
    if (!step.plays && !step.plays_receive) continue;
    Room& mine = room(event.request);
    const Kind kind = step.function.kind;
    if (kind == Kind::send || kind == Kind::exchange) mine.out(std::max<int64_t>(event.bytes, 0));
    if (kind == Kind::receive || kind == Kind::exchange) mine.in(step.capacity);
  }
}

// A call without a request of the record's has the room of blocking ones.
Room& Player::room(int slot) {
  if (slot < 0) return blocking_;
  while (slots_.size() <= size_t(slot)) slots_.emplace_back();
  return slots_[size_t(slot)];
}

int Player::peer(const Event& event, int world_rank) const {
  if (world_rank == record::kAnyRank) return MPI_ANY_SOURCE;
  return world_rank < 0 ? MPI_PROC_NULL : comms_[event.comm].rank_of[size_t(world_rank)];
}

Outcome Player::play() {
  must(MPI_Barrier(MPI_COMM_WORLD));
  const int64_t begin = now_ns();
  record::Unfolded events(sequence_);
  while (const auto event = events.next()) do_event(size_t(*event));
  finish();
  outcome_.replayed_s = double(now_ns() - begin) * 1e-9;
  outcome_.replayed_mpi_s = outcome_.replayed_s - computing_.taken_s();
  return outcome_;
}

void Player::do_event(size_t index) {
  const Event& event = sequence_.events[index];
  const Step& step = plan_.steps[index];
  computing_.pass(event.compute_s);
  outcome_.recorded_s += event.compute_s;
  const bool plays = plan_.plays(step);
  if (!plays && !step.plays_receive) return;
  progress(event.call.c_str());
  outcome_.recorded_s += event.took_s;
  outcome_.recorded_mpi_s += event.took_s;
  ++outcome_.calls;
  call(event, step, plays);
}

void Player::call(const Event& event, const Step& step, bool plays) {
  switch (step.function.kind) {
    case Kind::send:
    case Kind::receive:
      if (step.function.form == Form::persistent)
        room(event.request).event = int(&event - sequence_.events.data());
      else
        message(event, step, step.function.form);
      return;
    case Kind::exchange:
      return exchange(event, step, plays, step.plays_receive && plan_.may(step.receive_limit));
    case Kind::probe: {
      const int tag = event.tag == record::kAnyTag ? MPI_ANY_TAG : event.tag;
      must(MPI_Probe(peer(event, event.peer), tag, comms_[event.comm].handle, MPI_STATUS_IGNORE));
      return;
    }
    case Kind::wait:
      return wait(event);
    case Kind::test:
      return test(event);
    case Kind::start:
      return start(event);
    case Kind::free_request:
      for (const int slot : event.completes) {
        put_behind(room(slot));
        room(slot).event = -1;  // the next one there may be of a call that is left out
      }
      return;
    case Kind::collective:
      return collective(event, step);
    case Kind::new_comm:
      return new_comm(event);
    case Kind::window:
      return windows_.play(event, step.function, comms_[step.comm], room(event.request));
    case Kind::file:
      return files_.play(event, step.function, comms_[step.comm], room(event.request));
    case Kind::nothing:
    case Kind::unknown:
      return;
  }
}

// --- Messages ----------------------------------------------------------------------------------

void Player::message(const Event& event, const Step& step, Form form) {
  if (step.function.kind == Kind::send)
    send(event, step, form);
  else
    receive(event, step, form);
}

void Player::send(const Event& event, const Step& step, Form form) {
  // A buffered send is over at once: as one that nobody waits for.
  const bool buffered = step.function.buffered && form == Form::blocking;
  Room& mine = buffered ? new_behind() : room(event.request);
  const int64_t bytes = std::max<int64_t>(event.bytes, 0);
  const auto unit = amounts_.unit(bytes);
  char* const data = mine.out(unit.whole(bytes));
  const int to = peer(event, event.peer), count = unit.count(bytes);
  const MPI_Comm comm = comms_[event.comm].handle;
  if (form == Form::blocking && !buffered) {
    const auto make = step.function.synchronous ? MPI_Ssend : MPI_Send;
    must(make(data, count, unit.type, to, event.tag, comm));
  } else {
    const auto make = step.function.synchronous ? MPI_Issend : MPI_Isend;
    must(make(data, count, unit.type, to, event.tag, comm, &mine.request));
  }
}

void Player::receive(const Event& event, const Step& step, Form form) {
  Room& mine = room(event.request);
  const auto unit = amounts_.unit(step.capacity);
  char* const data = mine.in(unit.whole(step.capacity));
  const int from = peer(event, event.peer), count = unit.count(step.capacity);
  const int tag = event.tag == record::kAnyTag ? MPI_ANY_TAG : event.tag;
  const MPI_Comm comm = comms_[event.comm].handle;
  if (form == Form::blocking)
    must(MPI_Recv(data, count, unit.type, from, tag, comm, MPI_STATUS_IGNORE));
  else
    must(MPI_Irecv(data, count, unit.type, from, tag, comm, &mine.request));
}

// A begun one is two calls: its request is that of the receive, and the send is waited for at the
// end.
void Player::exchange(const Event& event, const Step& step, bool sends, bool receives) {
  const bool begins = step.function.form == Form::nonblocking;
  const int64_t bytes = sends ? std::max<int64_t>(event.bytes, 0) : 0;
  const int64_t most = receives ? step.capacity : 0;
  const auto out = amounts_.unit(bytes), in = amounts_.unit(most);
  const int to = sends ? peer(event, event.peer) : MPI_PROC_NULL;
  const int from = receives ? peer(event, event.from) : MPI_PROC_NULL;
  const int tag = event.from_tag == record::kAnyTag ? MPI_ANY_TAG : event.from_tag;
  const MPI_Comm comm = comms_[event.comm].handle;
  if (begins) {
    Room &behind = new_behind(), &mine = room(event.request);
    must(MPI_Irecv(mine.in(in.whole(most)), in.count(most), in.type, from, tag, comm,
                   &mine.request));
    must(MPI_Isend(behind.out(out.whole(bytes)), out.count(bytes), out.type, to, event.tag, comm,
                   &behind.request));
    return;
  }
  must(MPI_Sendrecv(blocking_.out(out.whole(bytes)), out.count(bytes), out.type, to, event.tag,
                    blocking_.in(in.whole(most)), in.count(most), in.type, from, tag, comm,
                    MPI_STATUS_IGNORE));
}

// --- Collectives -------------------------------------------------------------------------------

void Player::collective(const Event& event, const Step& step) {
  const bool varies = is_varying(step.function.collective);
  const Sums* sums = varies ? &varying_.at(event.comm).next() : nullptr;
  carry_out({event, step.function, comms_[event.comm], sums}, amounts_, room(event.request));
}

void Player::new_comm(const Event& event) {
  const Comm& comm = comms_[event.comm];
  MPI_Comm made;
  if (event.call.starts_with("MPI_Comm_dup"))
    must(MPI_Comm_dup(comm.handle, &made));
  else
    must(MPI_Comm_split(comm.handle, 0, comm.rank, &made));
  must(MPI_Comm_free(&made));
}

// --- Requests ----------------------------------------------------------------------------------

void Player::wait(const Event& event) {
  waited_.clear();
  for (const int slot : event.completes) waited_.push_back(room(slot).request);
  must(MPI_Waitall(int(waited_.size()), waited_.data(), MPI_STATUSES_IGNORE));
  for (const int slot : event.completes) room(slot).request = MPI_REQUEST_NULL;
}

// One that found something complete needs it complete here too. One that did not lets the library
// get on.
void Player::test(const Event& event) {
  if (!event.completes.empty()) return wait(event);
  int flag = 0;
  for (Room& each : slots_)
    if (each.request != MPI_REQUEST_NULL) {
      must(MPI_Request_get_status(each.request, &flag, MPI_STATUS_IGNORE));
      return;
    }
  must(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
}

void Player::start(const Event& event) {
  for (const int slot : event.completes) {
    const int made_by = room(slot).event;
    if (made_by < 0) continue;
    const Step& step = plan_.steps[size_t(made_by)];
    if (plan_.may(step.limit)) message(sequence_.events[size_t(made_by)], step, Form::nonblocking);
  }
}

// The request keeps its memory, and is waited for at the end.
void Player::put_behind(Room& mine) {
  if (mine.request == MPI_REQUEST_NULL) return;
  new_behind() = std::move(mine);
  mine = Room();
}

Room& Player::new_behind() {
  int done = 1;
  while (done && !behind_.empty()) {
    must(MPI_Test(&behind_.front().request, &done, MPI_STATUS_IGNORE));
    if (done) behind_.pop_front();
  }
  return behind_.emplace_back();
}

void Player::finish() {
  progress("MPI_Waitall at the end");
  waited_.clear();
  for (auto* rooms : {&slots_, &behind_})
    for (Room& each : *rooms) waited_.push_back(each.request);
  must(MPI_Waitall(int(waited_.size()), waited_.data(), MPI_STATUSES_IGNORE));
  progress("closing files and windows at the end");
  files_.finish();
  windows_.finish();
}

}  // namespace haichi::replay
