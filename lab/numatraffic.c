// A plug-in of QEMU (TCG, API version 1): counts the bytes that each processor of a guest loads
// from and stores to the memory of each of its NUMA nodes, between two marks in the program. Time
// in such a guest says nothing; what moves where is exact.
//
// Arguments: processors=NODE:NODE:... (the node of each), nodes=N, memory=MIB of each node, all
// alike. A mark is the instruction nopl CODE(%rax,%rax,1) with CODE 0x4e554d00 + n, which does
// nothing elsewhere: 1 begins to count, 2 ends it and prints, 0x0f forgets which memory is whose,
// 0x10 + k says that what this processor touches until mark 3 is memory of node k (the addresses
// that QEMU tells are not those of the guest, so each node has to be shown once).
//
// Only bulk copies count: rep movs and moves of vector registers, which QEMU does in parts of 8
// bytes. QEMU's own header is not packaged everywhere, so its functions are declared here.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
struct qemu_info;
enum { kNoRegisters = 0, kReadsAndWrites = 3 };
typedef void (*memory_callback)(unsigned, qemu_plugin_meminfo_t, uint64_t, void*);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           void (*)(qemu_plugin_id_t, struct qemu_plugin_tb*));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn*);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn*);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn*, memory_callback, int, int, void*);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn*, void (*)(unsigned, void*),
                                            int, void*);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
struct qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, uint64_t);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr*);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr*);

#define EXPORTED __attribute__((visibility("default")))
EXPORTED int qemu_plugin_version = 1;

enum { kMostProcessors = 256, kMostNodes = 16, kMostBlocks = 4096 };
enum { kBegin = 1, kEnd = 2, kShown = 3, kForget = 0x0f, kShow = 0x10 };

static unsigned nodes = 4, node_of_processor[kMostProcessors];
static uint64_t block_bytes = 384ull << 20;
static int node_of_block[kMostBlocks];
static volatile bool counting;
static uint64_t counted[kMostProcessors][kMostNodes][2];  // loads, stores

static int shown_node = -1;
static unsigned shown_by;
static uint32_t touched[kMostBlocks];

static void on_access(unsigned processor, qemu_plugin_meminfo_t info, uint64_t address,
                      void* bulk) {
  const bool showing = shown_node >= 0 && processor == shown_by;
  if (!counting && !showing) return;
  const struct qemu_plugin_hwaddr* where = qemu_plugin_get_hwaddr(info, address);
  if (!where || qemu_plugin_hwaddr_is_io(where)) return;
  uint64_t block = qemu_plugin_hwaddr_phys_addr(where) / block_bytes;
  if (block >= kMostBlocks) block = kMostBlocks - 1;
  if (showing) {
    touched[block]++;
    return;
  }
  if (!bulk) return;
  const int node = node_of_block[block];
  if (node < 0 || processor >= kMostProcessors) return;
  counted[processor][node][qemu_plugin_mem_is_store(info)] += 1u
                                                              << qemu_plugin_mem_size_shift(info);
}

static void print_counts(void) {
  for (unsigned of = 0; of < nodes; of++)
    for (unsigned memory = 0; memory < nodes; memory++) {
      uint64_t loads = 0, stores = 0;
      for (unsigned p = 0; p < kMostProcessors; p++)
        if (node_of_processor[p] == of) {
          loads += counted[p][memory][0];
          stores += counted[p][memory][1];
        }
      if (loads + stores > 0)
        fprintf(stderr, "traffic processors %u memory %u loaded %llu stored %llu\n", of, memory,
                (unsigned long long)loads, (unsigned long long)stores);
    }
  fprintf(stderr, "traffic end\n");
  fflush(stderr);
}

static void on_mark(unsigned processor, void* argument) {
  const int code = (int)(intptr_t)argument;
  if (code == kForget) {
    for (int i = 0; i < kMostBlocks; i++) node_of_block[i] = -1;
  } else if (code >= kShow && code < kShow + kMostNodes) {
    memset(touched, 0, sizeof touched);
    shown_by = processor;
    shown_node = code - kShow;
  } else if (code == kShown && shown_node >= 0) {
    int most = 0;
    for (int i = 0; i < kMostBlocks; i++)
      if (touched[i] > touched[most]) most = i;
    node_of_block[most] = shown_node;
    shown_node = -1;
  } else if (code == kBegin) {
    memset(counted, 0, sizeof counted);
    counting = true;
  } else if (code == kEnd) {
    counting = false;
    print_counts();
  }
}

// The code of a mark, or -1.
static int mark_of(const uint8_t* bytes, size_t size) {
  static const uint8_t head[] = {0x0f, 0x1f, 0x84, 0x00}, tail[] = {0x4d, 0x55, 0x4e};
  const bool is = size == 8 && !memcmp(bytes, head, 4) && !memcmp(bytes + 5, tail, 3);
  return is ? bytes[4] : -1;
}

static bool is_rep_movs(const uint8_t* bytes, size_t size) {
  size_t at = 0;
  while (at + 1 < size && (bytes[at] == 0xf3 || bytes[at] == 0xf2 || (bytes[at] & 0xf0) == 0x40))
    at++;
  return at > 0 && bytes[0] == 0xf3 && at == size - 1 && (bytes[at] == 0xa4 || bytes[at] == 0xa5);
}

// movups, movaps, movntps, movdqa, movdqu and movntdq, also as AVX and AVX-512 have them.
static bool is_vector_move(const uint8_t* bytes, size_t size) {
  static const uint8_t codes[] = {0x10, 0x11, 0x28, 0x29, 0x2b, 0x6f, 0x7f, 0xe7};
  size_t at = 0;
  if (size > 5 && bytes[0] == 0x62) {
    at = 4;
  } else if (size > 3 && (bytes[0] == 0xc5 || bytes[0] == 0xc4)) {
    at = bytes[0] == 0xc5 ? 2 : 3;
  } else {
    while (at < size && (bytes[at] == 0x66 || bytes[at] == 0xf3 || (bytes[at] & 0xf0) == 0x40))
      at++;
    if (at + 1 >= size || bytes[at] != 0x0f) return false;
    at++;
  }
  return memchr(codes, bytes[at], sizeof codes) != NULL;
}

static bool is_bulk_copy(const uint8_t* bytes, size_t size) {
  return is_rep_movs(bytes, size) || is_vector_move(bytes, size);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
    struct qemu_plugin_insn* each = qemu_plugin_tb_get_insn(block, i);
    const uint8_t* bytes = qemu_plugin_insn_data(each);
    const size_t size = qemu_plugin_insn_size(each);
    const int code = mark_of(bytes, size);
    if (code >= 0)
      qemu_plugin_register_vcpu_insn_exec_cb(each, on_mark, kNoRegisters, (void*)(intptr_t)code);
    else
      qemu_plugin_register_vcpu_mem_cb(each, on_access, kNoRegisters, kReadsAndWrites,
                                       (void*)(intptr_t)is_bulk_copy(bytes, size));
  }
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int count,
                                 char** arguments) {
  (void)info;
  for (unsigned p = 0; p < kMostProcessors; p++) node_of_processor[p] = kMostNodes;
  for (int i = 0; i < count; i++) {
    const char* value = strchr(arguments[i], '=');
    if (!value) return 1;
    if (!strncmp(arguments[i], "nodes=", 6)) nodes = (unsigned)atoi(value + 1);
    if (!strncmp(arguments[i], "memory=", 7)) block_bytes = strtoull(value + 1, NULL, 10) << 20;
    if (!strncmp(arguments[i], "processors=", 11))
      for (unsigned p = 0; value && p < kMostProcessors; p++, value = strchr(value + 1, ':'))
        node_of_processor[p] = (unsigned)atoi(value + 1);
  }
  if (nodes > kMostNodes || block_bytes == 0) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  return 0;
}
