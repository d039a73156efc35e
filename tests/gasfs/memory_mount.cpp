// usage: gasfs-memory-mount FOLDER SOCKET
//
// Mounts files in memory on FOLDER, with the arenas of preloaded programs behind SOCKET, says
// "mounted", and unmounts when its standard input ends: with the test that started it, whatever
// becomes of that. Says then how many records of how many bytes came by arenas, and how many
// programs were cut off.
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include "gasfs/arena/service.h"
#include "gasfs/files/memory_files.h"
#include "gasfs/fuse/mount.h"

int main(int count, char** words) {
  using namespace haichi::gasfs;
  if (count != 3) {
    fprintf(stderr, "usage: gasfs-memory-mount FOLDER SOCKET\n");
    return 2;
  }
  MemoryFiles files;
  const auto service = arena::Service::make(files, words[2]);
  if (!service) {
    fprintf(stderr, "gasfs-memory-mount: %s\n", service.error().text.c_str());
    return 1;
  }
  auto mount = fuse::Mount::make(words[1], files, service->get());
  if (!mount) {
    fprintf(stderr, "gasfs-memory-mount: %s\n", mount.error().text.c_str());
    return 1;
  }
  puts("mounted");
  fflush(stdout);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  mount->reset();
  const arena::Counts counts = (*service)->counts();
  fmt::print("{} records of {} bytes, {} answers of {} bytes, {} watches, {} cut off\n",
             counts.records, counts.bytes, counts.answers, counts.answer_bytes, counts.watches,
             counts.cut_off);
  return 0;
}
