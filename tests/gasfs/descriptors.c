/* What a program may do with a descriptor that it writes to: copies of it, children, streams, other
 * programs. Each part writes the file PATH-<part>, small pieces first so that the preload takes
 * them; the test compares the files with those that the same program left on tmpfs.
 *
 * usage: descriptors PATH */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static char path[4096];

static void need(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "descriptors: %s failed at %s: %m\n", what, path);
  exit(1);
}

static int begin(const char* root, const char* part) {
  snprintf(path, sizeof path, "%s-%s", root, part);
  const int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0644);
  need(fd >= 0, "open");
  for (int i = 0; i < 20; ++i) {
    char text[16];
    const int size = snprintf(text, sizeof text, "%d,", i);
    need(write(fd, text, size) == size, "write");
  }
  return fd;
}

/* The same, with the position where the program has put it. */
static int begin_at(const char* root, const char* part, off_t at) {
  const int fd = begin(root, part);
  need(lseek(fd, at, SEEK_SET) == at && write(fd, "<at>", 4) == 4, "lseek");
  return fd;
}

static void end(int fd) { need(close(fd) == 0, "close"); }

static void say(int fd, const char* text) {
  need(write(fd, text, strlen(text)) == (ssize_t)strlen(text), text);
}

static void wait_for(pid_t child) {
  int status;
  need(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child");
}

static void children(const char* root) {
  int fd = begin_at(root, "fork", 7);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 10; ++i) say(fd, "child ");
    _exit(close(fd) != 0);
  }
  wait_for(child);
  for (int i = 0; i < 10; ++i) say(fd, "parent ");
  need(lseek(fd, 0, SEEK_CUR) == 7 + 4 + 60 + 70, "position behind fork");
  end(fd);

  fd = begin_at(root, "vfork", 11);
  const pid_t other = vfork();
  if (other == 0) {
    if (dup2(fd, 1) != 1 || close(fd) != 0) _exit(1);
    execl("/bin/echo", "echo", "by vfork", (char*)NULL);
    _exit(1);
  }
  wait_for(other);
  say(fd, "and on");
  end(fd);

  fd = begin_at(root, "spawn", 3);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fd, 1);
  char* words[] = {"sh", "-c", "echo spawned; echo twice", NULL};
  pid_t spawned;
  need(posix_spawn(&spawned, "/bin/sh", &actions, NULL, words, environ) == 0, "posix_spawn");
  wait_for(spawned);
  say(fd, "behind");
  end(fd);

  fd = begin_at(root, "system", 5);
  const int number = dup2(fd, 9);
  need(number == 9 && system("echo from system >&9") == 0, "system");
  say(fd, "behind");
  need(close(9) == 0, "close 9");
  say(fd, "still");
  end(fd);

  fd = begin_at(root, "exec", 8);
  const pid_t becoming = fork();
  if (becoming == 0) {
    need(lseek(fd, 12, SEEK_SET) == 12, "lseek");
    say(fd, "before exec ");
    if (dup2(fd, 1) != 1) _exit(1);
    char* echo[] = {"echo", "by exec", NULL};
    execv("/bin/echo", echo);
    _exit(1);
  }
  wait_for(becoming);
  say(fd, "behind");
  end(fd);
}

static void copies(const char* root) {
  int fd = begin_at(root, "dup", 20);
  const int copy = dup(fd), third = fcntl(fd, F_DUPFD_CLOEXEC, 50),
            fourth = dup3(fd, 77, O_CLOEXEC);
  need(copy >= 0 && third >= 50 && fourth == 77, "dup");
  say(fd, "one ");
  say(copy, "two ");
  end(fd);
  say(third, "three ");
  say(fourth, "four ");
  need(lseek(copy, 2, SEEK_CUR) == 20 + 4 + 4 + 4 + 6 + 5 + 2, "position of copies");
  say(copy, "five");
  end(copy);
  need(close_range(50, 80, 0) == 0, "close_range");
  need(write(77, "x", 1) == -1, "closed");

  fd = begin_at(root, "reused", 1);
  const int number = fd;
  end(fd);
  int ends[2];
  need(pipe(ends) == 0 && (ends[0] == number || ends[1] == number), "pipe");
  need(write(ends[1], "pipe", 4) == 4, "pipe");
  close(ends[0]);
  close(ends[1]);

  fd = begin_at(root, "over", 1);
  int other = open("/dev/null", O_WRONLY);
  need(dup2(other, fd) == fd, "dup2");
  say(fd, "to nobody");
  close(other);
  end(fd);
}

static void streams(const char* root) {
  int fd = begin_at(root, "fdopen", 30);
  FILE* const stream = fdopen(fd, "w+");
  need(stream != NULL && fprintf(stream, "by stream %d", 1) > 0 && fflush(stream) == 0, "fdopen");
  say(fd, "by number");
  need(fseek(stream, 2, SEEK_SET) == 0 && fputs("at two", stream) >= 0, "fseek");
  need(fclose(stream) == 0, "fclose");
  int again = open("/dev/null", O_WRONLY); /* the same number, and nothing of ours */
  need(again == fd, "open");
  say(again, "to nobody");
  close(again);
}

static void positions(const char* root) {
  int fd = begin_at(root, "position", 10);
  char text[8] = {0};
  need(lseek(fd, 0, SEEK_SET) == 0 && read(fd, text, 4) == 4, "read");
  say(fd, "[4]");
  need(lseek(fd, -1, SEEK_CUR) == 6 && write(fd, "(6)", 3) == 3, "SEEK_CUR");
  need(lseek(fd, -3, SEEK_END) > 0 && write(fd, "end", 3) == 3, "SEEK_END");
  need(lseek(fd, -100000, SEEK_CUR) == -1, "before the start");
  need(lseek(fd, 40, SEEK_SET) == 40 && readlink("/nobody", text, 4) == -1, "lseek");
  struct iovec parts[3] = {{"ab", 2}, {"", 0}, {"cde", 3}};
  need(writev(fd, parts, 3) == 5 && pwritev(fd, parts, 3, 60) == 5, "writev");
  need(ftruncate(fd, 43) == 0 && write(fd, "beyond", 6) == 6, "ftruncate");
  need(pwrite(fd, "p", 1, 100) == 1 && lseek(fd, 0, SEEK_CUR) == 51, "pwrite");
  char* const large = malloc(300000);
  memset(large, 'L', 300000);
  need(write(fd, large, 300000) == 300000 && write(fd, "small", 5) == 5, "large");
  need(lseek(fd, 0, SEEK_CUR) == 300056, "position behind large");
  need(fsync(fd) == 0 && fdatasync(fd) == 0, "fsync");
  const int to = begin(root, "sendfile");
  need(lseek(fd, 5, SEEK_SET) == 5 && sendfile(to, fd, NULL, 20) == 20, "sendfile");
  say(to, "behind");
  need(lseek(fd, 0, SEEK_CUR) == 25, "position behind sendfile");
  end(to);
  need(lseek(fd, 9, SEEK_SET) == 9 && fcntl(fd, F_SETFL, O_APPEND) == 0, "F_SETFL");
  say(fd, "appended");
  end(fd);
  free(large);

  fd = begin_at(root, "mmap", 0);
  need(ftruncate(fd, 8192) == 0, "ftruncate");
  char* const map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  need(map != MAP_FAILED && map[5000] == 0, "mmap");
  need(lseek(fd, 5000, SEEK_SET) == 5000, "lseek");
  say(fd, "written");
  need(memcmp(map + 5000, "written", 7) == 0, "what is written is seen in the map");
  memcpy(map + 6000, "mapped", 6);
  need(pread(fd, text, 6, 6000) == 6 && memcmp(text, "mapped", 6) == 0, "the map is read");
  munmap(map, 8192);
  end(fd);
}

static void* in_thread(void* argument) {
  const int fd = *(int*)argument;
  for (int i = 0; i < 500; ++i) say(fd, "abcdefghi\n");
  return NULL;
}

static void threads(const char* root) {
  int fd = begin_at(root, "threads", 0);
  need(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0, "rewind");
  for (int round = 0; round < 40; ++round) { /* more threads than there are rings, in turn */
    pthread_t four[4];
    for (int i = 0; i < 4; ++i) need(pthread_create(&four[i], NULL, in_thread, &fd) == 0, "thread");
    for (int i = 0; i < 4; ++i) pthread_join(four[i], NULL);
  }
  need(lseek(fd, 0, SEEK_CUR) == 40 * 4 * 500 * 10, "position behind threads");
  end(fd);
}

static int signalled;
static void on_signal(int number) {
  (void)number;
  if (pwrite(signalled, "signal", 6, 1000000) != 6) abort();
}

static void signals(const char* root) {
  int fd = begin_at(root, "signal", 0);
  signalled = fd;
  signal(SIGALRM, on_signal);
  ualarm(300, 300);
  for (int i = 0; i < 200000; ++i) {
    need(lseek(fd, i % 1000 * 40, SEEK_SET) >= 0, "lseek");
    need(write(fd, "0123456789012345678901234567890123456789", 40) == 40, "write");
  }
  ualarm(0, 0);
  end(fd);
}

static void passed_on(const char* root) {
  int fd = begin_at(root, "passed", 4), pair[2];
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
  char room = 'x';
  struct iovec byte = {&room, 1};
  char control[CMSG_SPACE(sizeof fd)] = {0};
  struct msghdr message = {
      .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  need(sendmsg(pair[0], &message, 0) == 1, "sendmsg");
  need(recvmsg(pair[1], &message, 0) == 1, "recvmsg");
  int copy;
  memcpy(&copy, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof copy);
  say(copy, "by the copy");
  say(fd, "by the first");
  end(copy);
  end(fd);
}

int main(int count, char** words) {
  if (count != 2) return 2;
  children(words[1]);
  copies(words[1]);
  streams(words[1]);
  positions(words[1]);
  threads(words[1]);
  signals(words[1]);
  passed_on(words[1]);
  return 0;
}
