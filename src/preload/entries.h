// The exported functions as jumps through a table, so that a shim can step aside.
//
// A wrapper takes its arguments as its own ABI has them, and can't give them on to an MPI of
// another one: an MPI_Comm is four bytes in one and eight in the other. A jump touches no argument.
// Until the first call each entry of the table leads to haichi_settle(), which looks at the MPI
// library of the process and makes all of them lead to the wrappers, or, where the shim does not
// fit or is switched off, to what would have been called without it. See
// docs/adr/0003-one-shim-per-abi.md.
//
// Two entries for each function, MPI_X and PMPI_X, in the order of haichi::preload::exported_names.
#pragma once

#if (defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)
#define HAICHI_ENTRIES 1
#else
#define HAICHI_ENTRIES 0  // the wrappers are exported themselves, and refuse what does not fit
#endif

extern "C" {

#pragma GCC visibility push(hidden)
/// Where the exported functions go, where they go if haichi works, and how many there are.
/// Generated.
extern void (*haichi_entries[])();
extern void (*const haichi_wrappers[])();
extern const int haichi_entry_count;
/// Fills the table; thread-safe. Called by haichi_unsettled, which keeps the arguments of the call.
void haichi_settle() noexcept;
/// What an entry leads to at first: settles, and makes the call again.
void haichi_unsettled();
#pragma GCC visibility pop
}

// The number is of the table's row. It stays in a register that no argument is in, for
// haichi_unsettled.
#if defined(__x86_64__)
#define HAICHI_ENTRY(name, number)                                                        \
  asm(".pushsection .text\n.globl " name "\n.type " name ", @function\n.p2align 4\n" name \
      ":\n"                                                                               \
      "  endbr64\n  movl $" number                                                        \
      ", %eax\n"                                                                          \
      "  jmp *haichi_entries+8*" number "(%rip)\n.size " name ", .-" name "\n.popsection\n");
#elif defined(__aarch64__)
#define HAICHI_ENTRY(name, number)                                                        \
  asm(".pushsection .text\n.globl " name "\n.type " name ", %function\n.p2align 4\n" name \
      ":\n"                                                                               \
      "  hint #34\n  mov w17, #" number                                                   \
      "\n  adrp x16, haichi_entries\n"                                                    \
      "  add x16, x16, :lo12:haichi_entries\n  ldr x16, [x16, w17, uxtw #3]\n  br x16\n"  \
      ".size " name ", .-" name "\n.popsection\n");
#endif
