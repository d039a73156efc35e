#include "recorder/timed_call.h"

#include "mpi/compat/handles.h"

namespace haichi::recorder {

constinit thread_local record::CallClock call_clock __attribute__((tls_model("initial-exec"))) = {};

void Description::began(MPI_Request request, record::Begun begun) {
  if (request == mpi::handles().request_null) return;
  begun.function = key().function;
  begun.comm = key().comm;
  begun.file = key().file;
  begun.bytes = key().bytes;
  begun.type = key().type;
  begun.place = key().place;
  session.recording.begin(bits(request), begun);
}

}  // namespace haichi::recorder
