#include "fake_mpi/memory.h"

#include <stdio.h>
#include <stdlib.h>

#include <atomic>
#include <new>

#include "fake_mpi/world.h"

namespace haichi::test {
namespace {

constinit std::atomic<bool> g_watching = false;
constinit std::atomic<int64_t> g_count = 0;
constinit std::atomic<int64_t> g_refused = -1;
constinit thread_local int g_in_library = 0;

void* allocated(size_t size) {
  if (g_watching && g_in_library == 0 && g_count.fetch_add(1) == g_refused) {
    const Self& me = self();
    if (me.world) snprintf(me.world->ending(me.rank).failed, 32, "memory");
    return nullptr;
  }
  return malloc(size == 0 ? 1 : size);
}

}  // namespace

MemoryOfLibrary::MemoryOfLibrary() { ++g_in_library; }
MemoryOfLibrary::~MemoryOfLibrary() { --g_in_library; }

void watch_memory(int64_t refused) {
  g_count = 0;
  g_refused = refused;
  g_watching = true;
}

int64_t stop_watching_memory() {
  g_watching = false;
  return g_count;
}

}  // namespace haichi::test

void* operator new(size_t size) {
  if (void* const memory = haichi::test::allocated(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return haichi::test::allocated(size);
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new[](size_t size, const std::nothrow_t& none) noexcept {
  return operator new(size, none);
}
void operator delete(void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete[](void* memory, size_t) noexcept { free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { free(memory); }
