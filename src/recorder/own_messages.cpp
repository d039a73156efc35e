#include "recorder/own_messages.h"

#include <algorithm>

#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/job/backoff.h"

namespace haichi::recorder {
namespace {

using mpi::handles;
using mpi::real;

constexpr int kTag = 0x6872;
constexpr int64_t kMostAtOnce = 1 << 20;  // bytes

bool over(MPI_Request request) {
  mpi::Backoff backoff;
  for (;;) {
    int done = 0;
    if (real().Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done != 0) return true;
    backoff.idle();
  }
}

}  // namespace

bool OwnMessages::send_bytes(int to, const void* data, int64_t size) const {
  for (int64_t at = 0; at < size; at += kMostAtOnce) {
    MPI_Request request;
    if (real().Isend(static_cast<const char*>(data) + at, int(std::min(kMostAtOnce, size - at)),
                     handles().byte, to, kTag, own_, &request) != MPI_SUCCESS ||
        !over(request))
      return false;
  }
  return true;
}

bool OwnMessages::receive_bytes(int from, void* data, int64_t size) const {
  for (int64_t at = 0; at < size; at += kMostAtOnce) {
    MPI_Request request;
    if (real().Irecv(static_cast<char*>(data) + at, int(std::min(kMostAtOnce, size - at)),
                     handles().byte, from, kTag, own_, &request) != MPI_SUCCESS ||
        !over(request))
      return false;
  }
  return true;
}

bool OwnMessages::send(int to, std::string_view text) const {
  const int64_t size = int64_t(text.size());
  return send_bytes(to, &size, sizeof size) && send_bytes(to, text.data(), size);
}

bool OwnMessages::receive(int from, std::string& text) const {
  int64_t size = 0;
  text.clear();
  if (!receive_bytes(from, &size, sizeof size)) return false;
  text.resize(size_t(size));
  return receive_bytes(from, text.data(), size);
}

bool OwnMessages::send(int to, std::span<const int32_t> numbers) const {
  return send_bytes(to, numbers.data(), int64_t(numbers.size_bytes()));
}

bool OwnMessages::receive(int from, std::span<int32_t> numbers) const {
  return receive_bytes(from, numbers.data(), int64_t(numbers.size_bytes()));
}

}  // namespace haichi::recorder
