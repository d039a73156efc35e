#include "recorder/timed_call.h"

#include "mpi/compat/handles.h"

namespace haichi::recorder {

constinit thread_local record::CallClock call_clock __attribute__((tls_model("initial-exec"))) = {};

void TimedCall::fold() {
  const auto number = [](uint16_t of_key) {
    return of_key == record::Key::kNone ? -1 : int(of_key);
  };
  event_.call = call_.key.function;
  event_.comm = number(call_.key.comm);
  event_.file = number(call_.key.file);
  event_.bytes = call_.key.bytes;
  session_.folder->add(event_, call_.compute_ns, call_.end_ns - call_.begin_ns - call_.wait_ns);
}

void Description::began(MPI_Request request, record::Begun begun) {
  if (request == mpi::handles().request_null) return;
  begun.function = key().function;
  begun.comm = key().comm;
  begun.file = key().file;
  begun.bytes = key().bytes;
  begun.type = key().type;
  begun.place = key().place;
  if (session.recording.begin(bits(request), begun)) event.request = begun.slot;
}

}  // namespace haichi::recorder
