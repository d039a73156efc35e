// A filter of system calls for tests.
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

enum { kMostFiltered = 100 };

static const struct {
  const char* name;
  int number;
} kCalls[] = {
    {"move_pages", SYS_move_pages},
    {"get_mempolicy", SYS_get_mempolicy},
    {"set_mempolicy", SYS_set_mempolicy},
    {"mbind", SYS_mbind},
    {"mincore", SYS_mincore},
    {"madvise", SYS_madvise},
    {"fstatfs", SYS_fstatfs},
    {"statfs", SYS_statfs},
    {"sched_getaffinity", SYS_sched_getaffinity},
    {"sched_setaffinity", SYS_sched_setaffinity},
    {"sched_yield", SYS_sched_yield},
    {"clone", SYS_clone},
    {"clone3", SYS_clone3},
    {"futex", SYS_futex},
    {"preadv2", SYS_preadv2},
    {"preadv", SYS_preadv},
    {"readv", SYS_readv},
    {"read", SYS_read},
    {"pread64", SYS_pread64},
    {"getcpu", SYS_getcpu},
    {"prctl", SYS_prctl},
    {"rt_sigprocmask", SYS_rt_sigprocmask},
    {"rt_sigaction", SYS_rt_sigaction},
    {"set_robust_list", SYS_set_robust_list},
    {"getpid", SYS_getpid},
    {"fcntl", SYS_fcntl},
    {"clock_gettime", SYS_clock_gettime},
    {"nanosleep", SYS_nanosleep},
    {"munmap", SYS_munmap},
    {"mprotect", SYS_mprotect},
    {"getdents64", SYS_getdents64},
    {"uname", SYS_uname},
    {"sysinfo", SYS_sysinfo},
    {"io_uring_setup", SYS_io_uring_setup},
    {"tgkill", SYS_tgkill},
    {"cachestat", SYS_cachestat},
    {"futex_waitv", 449},  // one number on all machines
};

// Of a name that ends at a comma or with the text; -1 for an unknown one.
static int number_of(const char* name, size_t size) {
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; i++)
    if (strlen(kCalls[i].name) == size && strncmp(kCalls[i].name, name, size) == 0)
      return kCalls[i].number;
  return -1;
}

static unsigned answer_of(const char* word) {
  if (strcmp(word, "kill") == 0) return SECCOMP_RET_KILL_PROCESS;
  if (strcmp(word, "trap") == 0) return SECCOMP_RET_TRAP;
  return SECCOMP_RET_ERRNO | (unsigned)atoi(word);
}

// Answers the calls whose names are listed, separated by commas; of this thread, or with
// SECCOMP_FILTER_FLAG_TSYNC among the flags of all. Whether that was allowed.
static int filter_calls(const char* answer, const char* calls, unsigned flags) {
  struct sock_filter filter[2 * kMostFiltered + 2] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  size_t used = 1;
  while (*calls != '\0' && used < 2 * kMostFiltered) {
    const size_t size = strcspn(calls, ",");
    const int number = number_of(calls, size);
    if (number < 0) exit(2);
    filter[used++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
    filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer_of(answer));
    calls += size + (calls[size] == ',');
  }
  filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {(unsigned short)used, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
  if (flags != 0) return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
