#include "replay/run/windows.h"

#include <string.h>

#include <algorithm>

#include "replay/run/elements.h"
#include "replay/run/must.h"

namespace haichi::replay {

using record::Event;

Windows::Windows(const Amounts& amounts, int64_t largest)
    : amounts_(amounts), largest_(amounts.unit(largest).whole(largest) + int64_t(sizeof(double))) {
  memory_.out(largest_);
  memory_.in(largest_);
}

void Windows::play(const Event& event, const Function& function, const Comm& comm, Room& room) {
  if (function.one_sided == OneSided::create) return create(event, comm);
  const auto found = windows_.find(event.window);
  if (found == windows_.end()) return;
  const int peer = event.peer < 0 ? MPI_PROC_NULL : comm.rank_of[size_t(event.peer)];
  if (function.one_sided == OneSided::free) {
    free(found->second);
    windows_.erase(found);
    made_.erase(std::find(made_.begin(), made_.end(), event.window));
  } else if (is_access(function.one_sided)) {
    access(found->second, event, function, peer,
           function.form == Form::nonblocking ? room : memory_);
  } else {
    synchronise(found->second, function.one_sided, peer);
  }
}

void Windows::create(const Event& event, const Comm& comm) {
  Window window;
  char* memory = nullptr;
  const int64_t bytes = std::max(event.bytes, largest_);
  must(MPI_Win_allocate(MPI_Aint(bytes), 1, MPI_INFO_NULL, comm.handle, &memory, &window.handle));
  memset(memory, 0, size_t(bytes));
  must(MPI_Win_set_errhandler(window.handle, MPI_ERRORS_RETURN));
  windows_.emplace(event.window, std::move(window));
  made_.push_back(event.window);
}

void Windows::synchronise(Window& window, OneSided call, int peer) {
  switch (call) {
    case OneSided::fence:
      return must(MPI_Win_fence(0, window.handle));
    case OneSided::lock:
      window.locked.insert(peer);
      return must(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, window.handle));
    case OneSided::unlock:
      if (window.locked.erase(peer) > 0) must(MPI_Win_unlock(peer, window.handle));
      return;
    case OneSided::lock_all:
      window.all_locked = true;
      return must(MPI_Win_lock_all(0, window.handle));
    case OneSided::unlock_all:
      if (window.all_locked) must(MPI_Win_unlock_all(window.handle));
      window.all_locked = false;
      return;
    case OneSided::flush:
      return must(MPI_Win_flush(peer, window.handle));
    case OneSided::flush_all:
      return must(MPI_Win_flush_all(window.handle));
    default:
      return must(MPI_Win_sync(window.handle));
  }
}

void Windows::access(Window& window, const Event& event, const Function& function, int peer,
                     Room& room) {
  const int64_t bytes = std::max<int64_t>(event.bytes, 0);
  const auto unit = amounts_.unit(bytes);
  const int n = unit.count(bytes);
  const auto [element, op, m] = elements_of(bytes);
  char* const out = room.out(largest_);
  char* const in = room.in(largest_);
  const MPI_Win win = window.handle;
  const bool asks = function.form == Form::nonblocking;
  switch (function.one_sided) {
    case OneSided::put:
      return must(asks ? MPI_Rput(out, n, unit.type, peer, 0, n, unit.type, win, &room.request)
                       : MPI_Put(out, n, unit.type, peer, 0, n, unit.type, win));
    case OneSided::get:
      return must(asks ? MPI_Rget(in, n, unit.type, peer, 0, n, unit.type, win, &room.request)
                       : MPI_Get(in, n, unit.type, peer, 0, n, unit.type, win));
    case OneSided::accumulate:
      return must(
          asks ? MPI_Raccumulate(out, m, element, peer, 0, m, element, op, win, &room.request)
               : MPI_Accumulate(out, m, element, peer, 0, m, element, op, win));
    case OneSided::get_accumulate:
      return must(
          asks ? MPI_Rget_accumulate(out, m, element, in, m, element, peer, 0, m, element, op, win,
                                     &room.request)
               : MPI_Get_accumulate(out, m, element, in, m, element, peer, 0, m, element, op, win));
    case OneSided::fetch:
      return must(MPI_Fetch_and_op(out, in, MPI_INT64_T, peer, 0, MPI_SUM, win));
    default:
      return must(MPI_Compare_and_swap(out, out + sizeof(int64_t), in, MPI_INT64_T, peer, 0, win));
  }
}

void Windows::free(Window& window) {
  for (const int peer : window.locked) must(MPI_Win_unlock(peer, window.handle));
  if (window.all_locked) must(MPI_Win_unlock_all(window.handle));
  must(MPI_Win_free(&window.handle));
}

void Windows::finish() {
  for (; !made_.empty(); made_.pop_back()) free(windows_.at(made_.back()));
  windows_.clear();
}

}  // namespace haichi::replay
