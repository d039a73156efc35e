#include "mpi/types/kept_types.h"

#include <array>
#include <atomic>
#include <mutex>
#include <new>

#include "generated/real.h"

namespace haichi::mpi {
namespace {

struct Named {
  MPI_Datatype type;
  TypeShape shape;
};

// MPI names about 50 types, counting Fortran's.
constexpr size_t kSlots = 128;
constexpr size_t kProbes = 8;
constinit std::array<std::atomic<const Named*>, kSlots> g_named{};

// Open MPI's handles are addresses, MPICH's numbers that differ in their lowest digits.
size_t slot_of(MPI_Datatype type) {
  const auto bits = uint64_t(type);
  return size_t((bits * 0x9e3779b97f4a7c15u) >> 57);
}
static_assert(kSlots == size_t{1} << (64 - 57));

/// Serialises making the key and adding attributes. MPI's own locks may be taken under it, so no
/// callback of MPI may take it.
constinit std::mutex g_mutex;
enum : int { kNotMade = -1, kUnusable = -2 };
constinit std::atomic<int> g_key_state = kNotMade;  // or 0: g_key is valid
constinit int g_key = 0;

int copy_shape(MPI_Datatype, int, void*, void* value, void* copy, int* flag) {
  auto* const shape = new (std::nothrow) TypeShape(*static_cast<const TypeShape*>(value));
  // The duplicate is a constructor over a constructor.
  if (shape) shape->plain = false;
  *static_cast<void**>(copy) = shape;
  *flag = shape != nullptr;
  return MPI_SUCCESS;
}

int delete_shape(MPI_Datatype, int, void* value, void*) {
  delete static_cast<const TypeShape*>(value);
  return MPI_SUCCESS;
}

/// Called with the mutex held.
bool make_key() {
  if (g_key_state == kNotMade) {
    const bool made =
        real().Type_create_keyval && real().Type_set_attr && real().Type_get_attr &&
        real().Type_create_keyval(copy_shape, delete_shape, &g_key, nullptr) == MPI_SUCCESS;
    g_key_state.store(made ? 0 : kUnusable, std::memory_order_release);
  }
  return g_key_state == 0;
}

}  // namespace

const TypeShape* find_named(MPI_Datatype type) {
  for (size_t i = 0; i < kProbes; ++i) {
    const Named* const named =
        g_named[(slot_of(type) + i) % kSlots].load(std::memory_order_acquire);
    if (named == nullptr) return nullptr;
    if (named->type == type) return &named->shape;
  }
  return nullptr;
}

void keep_named(MPI_Datatype type, const TypeShape& shape) {
  const std::lock_guard guard(g_mutex);
  if (find_named(type)) return;
  for (size_t i = 0; i < kProbes; ++i) {
    auto& slot = g_named[(slot_of(type) + i) % kSlots];
    if (slot.load(std::memory_order_relaxed) != nullptr) continue;
    slot.store(new Named{type, shape}, std::memory_order_release);
    return;
  }
}

const TypeShape* find_kept(MPI_Datatype type) {
  if (g_key_state.load(std::memory_order_acquire) != 0) return nullptr;
  void* value = nullptr;
  int found = 0;
  if (real().Type_get_attr(type, g_key, &value, &found) != MPI_SUCCESS || !found) return nullptr;
  return static_cast<const TypeShape*>(value);
}

// Never replaces one that is there: another thread may be reading it.
void keep(MPI_Datatype type, const TypeShape& shape) {
  const std::lock_guard guard(g_mutex);
  if (!make_key() || find_kept(type)) return;
  auto* const kept = new (std::nothrow) TypeShape(shape);
  if (kept && real().Type_set_attr(type, g_key, kept) != MPI_SUCCESS) delete kept;
}

void stop_keeping_types() {
  const std::lock_guard guard(g_mutex);
  if (g_key_state.exchange(kUnusable) == 0) real().Type_free_keyval(&g_key);
}

}  // namespace haichi::mpi
