// Copies 2 MiB by each way to copy that there is on this processor, between two marks of
// lab/numatraffic.c each, and prints their names: the plug-in says what each moves.
#include <cstdio>
#include <cstring>
#include <vector>

#include "numaio/copy.h"

#define MARK(code) \
  __asm__ volatile(".byte 0x0f,0x1f,0x84,0x00," #code ",0x4d,0x55,0x4e" ::: "memory")

int main() {
  constexpr size_t kBytes = 2 << 20, kPage = 4096;
  const std::vector<std::byte> from(kBytes, std::byte{7});
  std::vector<std::byte> to(kBytes);
  volatile const std::byte* const page = from.data();
  MARK(0x0f);
  MARK(0x10);  // of a guest with one node, whose memory it is
  for (int i = 0; i < 40960; ++i) static_cast<void>(page[i % kPage]);
  MARK(0x03);
  for (const haichi::numaio::CopyKernel& kernel : haichi::numaio::copy_kernels()) {
    memset(to.data(), 0, kBytes);
    MARK(0x01);
    kernel.copy(to.data(), from.data(), kBytes);
    MARK(0x02);
    if (to != from) return 1;
    printf("%.*s\n", int(kernel.name.size()), kernel.name.data());
  }
  return 0;
}
