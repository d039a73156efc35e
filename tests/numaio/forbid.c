// forbid ERROR CALL,... PROGRAM [ARGS]: runs PROGRAM with a filter that answers these system calls
// with that error number, as containers' and sandboxes' do.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

static const struct {
  const char* name;
  int number;
} kCalls[] = {{"move_pages", SYS_move_pages}, {"get_mempolicy", SYS_get_mempolicy},
              {"cachestat", SYS_cachestat},   {"mincore", SYS_mincore},
              {"fstatfs", SYS_fstatfs},       {"sched_getaffinity", SYS_sched_getaffinity},
              {"clone", SYS_clone},           {"clone3", SYS_clone3}};

static int number_of(const char* name) {
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; i++)
    if (strcmp(kCalls[i].name, name) == 0) return kCalls[i].number;
  fprintf(stderr, "forbid: %s?\n", name);
  exit(2);
}

static void forbid(int call, unsigned error) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0) return;
  perror("seccomp");
  exit(77);
}

int main(int count, char** words) {
  if (count < 4) return 2;
  const unsigned error = (unsigned)atoi(words[1]);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 77;
  for (char* name = strtok(words[2], ","); name; name = strtok(NULL, ","))
    forbid(number_of(name), error);
  execvp(words[3], words + 3);
  perror(words[3]);
  return 2;
}
