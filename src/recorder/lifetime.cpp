// The start and the end of a record, and what has to be known of handles in between.
#include <mutex>

#include "base/settings.h"
#include "generated/hooks.h"
#include "generated/real.h"
#include "recorder/begin_session.h"
#include "recorder/beside_shim.h"
#include "recorder/end_session.h"
#include "recorder/session.h"

namespace haichi::mpi {

bool active() {
  static const bool on = !is_disabled() && recorder::fits_beside_shim();
  return on;
}

namespace {

int started(int result) {
  if (result == MPI_SUCCESS && recorder::session() == nullptr) recorder::begin_session();
  return result;
}

}  // namespace

int on_Init(int* argc, char*** argv) { return started(real().Init(argc, argv)); }

int on_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return started(real().Init_thread(argc, argv, required, provided));
}

int on_Finalize() {
  recorder::end_session();
  return real().Finalize();
}

void forget_type(MPI_Datatype* datatype) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr || datatype == nullptr) return;
  const std::lock_guard guard(session->recording.lock());
  session->types.forget(*datatype);
}

}  // namespace haichi::mpi
