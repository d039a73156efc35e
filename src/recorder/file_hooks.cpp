// Files: accesses of every kind, and what is done with a file beside them.
#include "base/json_text.h"
#include "generated/by_file_access.h"
#include "generated/by_file_close.h"
#include "generated/by_file_open.h"
#include "mpi/compat/handles.h"
#include "recorder/timed_call.h"

namespace haichi::mpi {
namespace {

using recorder::Description;

void on_file(Description& d, const recorder::File& file) {
  if (file.comm) d.on(file.comm.get());
  d.key().file = file.number;
}

uint16_t number_of(Description& d, const char* name) {
  return d.session.recording.definitions().file(fmt::format(R"("name":{})", quoted(name)));
}

template <class Call>
int file_open(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr) return call.real_call();
  return recorder::timed(*session, call, [&](Description& d) {
    recorder::File file{d.session.communicators.shared(call.comm), number_of(d, call.filename)};
    on_file(d, file);
    d.session.files.add(*call.fh, std::move(file));
  });
}

template <class Call>
int file_close(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr || call.fh == nullptr) return call.real_call();
  recorder::File file;
  {
    // Before the call: behind it another thread may have made one with the same handle.
    const std::lock_guard guard(session->recording.lock());
    if (const recorder::File* const known = session->files.of(*call.fh)) file = *known;
    session->files.forget(*call.fh);
  }
  return recorder::timed(*session, call, [&](Description& d) { on_file(d, file); });
}

template <class Call>
void describe_access(Description& d, const Call& call, recorder::File& file) {
  on_file(d, file);
  if constexpr (requires { call.filetype; }) file.view = d.session.types.of(call.filetype).shape;
  if constexpr (requires { call.filetype; } || requires { call.buf; }) d.key().view = file.view;
  if constexpr (requires { call.count; })
    d.key().bytes = d.bytes_of(int64_t(call.count), call.datatype);
  if constexpr (requires { call.buf; }) d.buffer(call.buf);
  if constexpr (requires { call.request; }) d.began(*call.request, {});
}

template <class Call>
int file_access(const Call& call) {
  recorder::Session* const session = recorder::session();
  if (session == nullptr) return call.real_call();
  return recorder::timed(*session, call, [&](Description& d) {
    if constexpr (requires { call.fh; }) {
      if (recorder::File* const file = d.session.files.of(call.fh)) describe_access(d, call, *file);
    } else {  // MPI_File_delete
      d.key().file = number_of(d, call.filename);
    }
  });
}

}  // namespace
}  // namespace haichi::mpi
