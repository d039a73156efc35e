// numa_split FOLDER CASE...: reads, writes and copies a buffer that has a block of pages on each
// NUMA node, between two marks of lab/numatraffic.c each, so that the plug-in says which bytes went
// from node to node. Cases: one (a plain read by a thread that is bound to a node), any (by one
// that is not), read, interleaved, parts, copy,
// fresh.
#define _GNU_SOURCE
#include <fcntl.h>
#include <haichi/io.h>
#include <numaif.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MARK(code) \
  __asm__ volatile(".byte 0x0f,0x1f,0x84,0x00," #code ",0x4d,0x55,0x4e" ::: "memory")
enum { kMostNodes = 16, kBlock = 2 << 20, kPage = 4096, kShift = 64, kRounds = 3 };

static int nodes, first_processor[kMostNodes];
static const char* folder;

static void fail(const char* what) {
  printf("wrong: %s\n", what);
  exit(1);
}

static void find_nodes(void) {
  for (nodes = 0; nodes < kMostNodes; nodes++) {
    char path[99];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", nodes);
    FILE* file = fopen(path, "r");
    if (!file) break;
    if (fscanf(file, "%d", &first_processor[nodes]) != 1) first_processor[nodes] = -1;
    fclose(file);
  }
}

static void run_on(int node) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (node < 0) {
    for (int cpu = 0; cpu < 256; cpu++) CPU_SET(cpu, &set);
  } else {
    CPU_SET(first_processor[node], &set);
  }
  if (sched_setaffinity(0, sizeof set, &set)) fail("no such processor");
}

static char* memory(size_t bytes) {
  char* made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) fail("no memory");
  return made;
}

static void place(char* begin, size_t bytes, int mode, unsigned long mask) {
  if (mbind(begin, bytes, mode, &mask, 64, 0)) fail("mbind");
}

// Memory with a block on each node, or all of it in turns.
static char* blocks(int in_turns) {
  char* made = memory((size_t)nodes * kBlock);
  for (int node = 0; node < nodes; node++)
    place(made + (size_t)node * kBlock, kBlock, in_turns ? MPOL_INTERLEAVE : MPOL_BIND,
          in_turns ? (1ul << nodes) - 1 : 1ul << node);
  memset(made, 7, (size_t)nodes * kBlock);
  return made;
}

// The plug-in learns which addresses are whose; it needs far more accesses than anything else
// makes.
static void show_memory(void) {
  MARK(0x0f);
  for (int node = 0; node < nodes; node++) {
    char* page = memory(kPage);
    place(page, kPage, MPOL_BIND, 1ul << node);
    memset(page, 1, kPage);
    volatile char* read = page;
#define SHOW(code)                                       \
  MARK(code);                                            \
  for (int i = 0; i < 40960; i++) (void)read[i % kPage]; \
  MARK(0x03);                                            \
  break
    switch (node) {
      case 0:
        SHOW(0x10);
      case 1:
        SHOW(0x11);
      case 2:
        SHOW(0x12);
      case 3:
        SHOW(0x13);
      case 4:
        SHOW(0x14);
      case 5:
        SHOW(0x15);
      case 6:
        SHOW(0x16);
      case 7:
        SHOW(0x17);
      default:
        fail("more nodes than marks");
    }
  }
}

// What a node's block of the file holds: another part of the same numbers each.
static const char* block_of(int node) {
  enum { kNumbers = (kBlock + kMostNodes * kShift) / sizeof(uint64_t) };
  static uint64_t numbers[kNumbers];
  if (numbers[0] == 0) {
    uint64_t last = 88172645463325252;
    for (size_t i = 0; i < kNumbers; i++)
      numbers[i] = last = last * 6364136223846793005u + 1442695040888963407u;
  }
  return (const char*)numbers + node * kShift;
}

// A file whose cached pages lie in a block on each node: they are where their writer runs.
static int spread_file(void) {
  char path[200];
  snprintf(path, sizeof path, "%s/spread", folder);
  unlink(path);
  const int fd = open(path, O_RDWR | O_CREAT, 0600);
  for (int node = 0; node < nodes; node++) {
    run_on(node);
    if (pwrite(fd, block_of(node), kBlock, (off_t)node * kBlock) != kBlock) fail("the file");
  }
  return fd;
}

static void check(const char* data) {
  for (int node = 0; node < nodes; node++)
    if (memcmp(data + (size_t)node * kBlock, block_of(node), kBlock)) fail("other bytes");
}

static void report(const char* what) {
  struct haichi_io_how how;
  haichi_io_last(&how);
  printf("%s threads %d nodes %d local %llu of %llu: %s\n", what, how.threads, how.nodes,
         (unsigned long long)how.local_bytes, (unsigned long long)how.bytes, how.why);
}

typedef ssize_t reader(int fd, void* data, size_t size, off_t offset);

// The first call makes threads, for which the kernel copies some 100 KB.
static void read_case(const char* name, reader* by, int bound, int in_turns) {
  const size_t bytes = (size_t)nodes * kBlock;
  const int fd = spread_file();
  char* data = blocks(in_turns);
  run_on(bound ? 0 : -1);
  if (by(fd, data, bytes, 0) != (ssize_t)bytes) fail("the first call");
  for (int round = 0; round < kRounds; round++) {
    memset(data, 0, bytes);
    MARK(0x01);
    const ssize_t got = by(fd, data, bytes, 0);
    MARK(0x02);
    if (got != (ssize_t)bytes) fail("not all bytes");
    check(data);
  }
  run_on(-1);
  if (by == haichi_io_pread) report(name);
}

static void parts_case(void) {
  struct haichi_io_part parts[kMostNodes];
  char* data = blocks(0);
  for (int node = 0; node < nodes; node++) {
    char path[200];
    snprintf(path, sizeof path, "%s/part%d", folder, node);
    unlink(path);
    parts[node] = (struct haichi_io_part){open(path, O_RDWR | O_CREAT, 0600),
                                          data + (size_t)node * kBlock, kBlock, 0};
  }
  if (haichi_io_pwrite_parts(parts, (size_t)nodes)) fail("the first call");
  for (int round = 0; round < kRounds; round++) {
    MARK(0x01);
    const int failed = haichi_io_pwrite_parts(parts, (size_t)nodes);
    MARK(0x02);
    if (failed) fail("the parts");
  }
  report("parts");
}

static void copy_case(void) {
  char *from = blocks(0), *to = blocks(0);
  memset(from, 9, (size_t)nodes * kBlock);
  haichi_io_copy(to, from, (size_t)nodes * kBlock);  // the ways to copy are measured now
  for (int round = 0; round < kRounds; round++) {
    MARK(0x01);
    haichi_io_copy(to, from, (size_t)nodes * kBlock);
    MARK(0x02);
  }
  if (memcmp(from, to, (size_t)nodes * kBlock)) fail("other bytes");
  report("copy");
}

// Memory that nobody has touched comes to be where the caller runs, and nowhere else.
static void fresh_case(void) {
  const int fd = spread_file(), last = nodes - 1;
  const size_t bytes = (size_t)nodes * kBlock;
  char* data = memory(bytes);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(first_processor[last], &set);
  CPU_SET(first_processor[last] + 1, &set);
  if (sched_setaffinity(0, sizeof set, &set)) fail("no such processors");
  if (haichi_io_pread(fd, data, bytes, 0) != (ssize_t)bytes) fail("not all bytes");
  report("fresh");
  check(data);
  for (size_t at = 0; at < bytes; at += kPage) {
    void* page = data + at;
    int status = -1;
    if (move_pages(0, 1, &page, NULL, &status, 0) || status != last) fail("a page elsewhere");
  }
  run_on(-1);
}

int main(int count, char** words) {
  if (count < 3) return 2;
  folder = words[1];
  find_nodes();
  const struct haichi_io_options options = {0, 1 << 20, 1 << 20, 1};
  if (haichi_io_set_options(&options)) fail("options");
  show_memory();
  for (int i = 2; i < count; i++) {
    if (!strcmp(words[i], "one")) read_case("one", pread, 1, 0);
    if (!strcmp(words[i], "any")) read_case("any", pread, 0, 0);
    if (!strcmp(words[i], "read")) read_case("read", haichi_io_pread, 0, 0);
    if (!strcmp(words[i], "interleaved")) read_case("interleaved", haichi_io_pread, 0, 1);
    if (!strcmp(words[i], "parts")) parts_case();
    if (!strcmp(words[i], "copy")) copy_case();
    if (!strcmp(words[i], "fresh")) fresh_case();
  }
  puts("right");
  return 0;
}
