#include "preload/entries.h"

#include <unwind.h>

#include <atomic>

#include "preload/guard.h"
#include "preload/library.h"

#if HAICHI_ENTRIES

// No argument of an MPI function is a floating-point number, and none is changed here: what is on
// the stack is below the caller's.
#if defined(__x86_64__)
asm(R"(
.pushsection .text
.hidden haichi_unsettled
.globl haichi_unsettled
.type haichi_unsettled, @function
.p2align 4
haichi_unsettled:
  .cfi_startproc
  endbr64
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  .cfi_def_cfa_offset 64
  call haichi_settle
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  .cfi_def_cfa_offset 8
  lea haichi_entries(%rip), %r11
  jmp *(%r11,%rax,8)
  .cfi_endproc
.size haichi_unsettled, .-haichi_unsettled
.popsection
)");
#else
asm(R"(
.pushsection .text
.hidden haichi_unsettled
.globl haichi_unsettled
.type haichi_unsettled, %function
.p2align 4
haichi_unsettled:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-112]!
  .cfi_def_cfa_offset 112
  .cfi_offset 29, -112
  .cfi_offset 30, -104
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  stp x8, x17, [sp, #80]
  bl haichi_settle
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldp x8, x17, [sp, #80]
  ldp x29, x30, [sp], #112
  .cfi_def_cfa_offset 0
  .cfi_restore 29
  .cfi_restore 30
  adrp x16, haichi_entries
  add x16, x16, :lo12:haichi_entries
  ldr x16, [x16, w17, uxtw #3]
  br x16
  .cfi_endproc
.size haichi_unsettled, .-haichi_unsettled
.popsection
)");
#endif

namespace haichi::preload {
namespace {

void fill(bool wrap, const Library& library) {
  for (int i = 0; i < haichi_entry_count; ++i) {
    auto entry = haichi_wrappers[i];
    if (!wrap) {
      const char* const name = exported_names[i / 2] + (i % 2 == 0);  // without its P
      entry = reinterpret_cast<void (*)()>(next_symbol(library, name));
      if (entry == nullptr) entry = [] { (void)require_library(); };
    }
    std::atomic_ref(haichi_entries[i]).store(entry, std::memory_order_release);
  }
}

_Unwind_Reason_Code stop(_Unwind_Context*, void*) { return _URC_END_OF_STACK; }

bool settle() {
  // The unwinder that is linked into the shim knows the registers only after its first use. The
  // program's may ask it before, about our frames, when a callback throws or a thread is cancelled.
  _Unwind_Backtrace(stop, nullptr);
  const Library library = find_library();
  const bool fits = say_whether_it_fits(library);
  fill(fits && mpi::active(), library);
  return true;
}

}  // namespace
}  // namespace haichi::preload

extern "C" void haichi_settle() noexcept {
  [[maybe_unused]] static const bool settled = haichi::preload::settle();
}

#endif
