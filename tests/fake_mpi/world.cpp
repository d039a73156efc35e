#include "fake_mpi/world.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include <new>

namespace haichi::test {
namespace {

constexpr size_t kBytes = size_t{64} << 20;  // pages that nobody touches cost nothing

}  // namespace

struct World::Shared {
  pthread_mutex_t mutex;
  std::atomic<int> aborted = -1;
  size_t used = sizeof(Shared);
  Mail* first[kMostRanks] = {};
  Mail* last[kMostRanks] = {};
  Ending endings[kMostRanks] = {};
};

World::World(const JobOptions& o) : options(o) {
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  shared_ = new (memory) Shared;
  pthread_mutexattr_t of_all;
  pthread_mutexattr_init(&of_all);
  pthread_mutexattr_setpshared(&of_all, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared_->mutex, &of_all);
  pthread_mutexattr_destroy(&of_all);
}

World::~World() { munmap(shared_, kBytes); }

void World::send(int to, const Envelope& envelope, const void* data, size_t size, Mail** sent) {
  pthread_mutex_lock(&shared_->mutex);
  const size_t needed = (sizeof(Mail) + size + 63) / 64 * 64;
  if (shared_->used + needed > kBytes) __builtin_trap();
  auto* const memory = reinterpret_cast<std::byte*>(shared_) + (shared_->used + 63) / 64 * 64;
  shared_->used = size_t(memory - reinterpret_cast<std::byte*>(shared_)) + needed;
  auto* const mail = new (memory) Mail{envelope, size, nullptr, false};
  if (size > 0) memcpy(mail->bytes(), data, size);
  Mail*& last = shared_->last[to];
  (last ? last->next : shared_->first[to]) = mail;
  last = mail;
  if (sent) *sent = mail;
  pthread_mutex_unlock(&shared_->mutex);
}

Mail* World::take(int rank, const Envelope& envelope) {
  pthread_mutex_lock(&shared_->mutex);
  Mail* before = nullptr;
  Mail* mail = shared_->first[rank];
  while (mail && mail->envelope != envelope) {
    before = mail;
    mail = mail->next;
  }
  if (mail) {
    (before ? before->next : shared_->first[rank]) = mail->next;
    if (shared_->last[rank] == mail) shared_->last[rank] = before;
    mail->taken = true;
  }
  pthread_mutex_unlock(&shared_->mutex);
  return mail;
}

Ending& World::ending(int rank) { return shared_->endings[rank]; }

void World::abort(int code) {
  int nobody = -1;
  shared_->aborted.compare_exchange_strong(nobody, code);
}

int World::aborted() const { return shared_->aborted; }

Self& self() {
  static Self instance = {nullptr, -1};
  return instance;
}

}  // namespace haichi::test
