// usage: gasfs-memory-mount FOLDER
//
// Mounts files in memory on FOLDER, says "mounted", and unmounts when its standard input ends: with
// the test that started it, whatever becomes of that.
#include <stdio.h>
#include <unistd.h>

#include "gasfs/files/memory_files.h"
#include "gasfs/fuse/mount.h"

int main(int count, char** words) {
  using namespace haichi::gasfs;
  if (count != 2) {
    fprintf(stderr, "usage: gasfs-memory-mount FOLDER\n");
    return 2;
  }
  MemoryFiles files;
  const auto mount = fuse::Mount::make(words[1], files, nullptr);
  if (!mount) {
    fprintf(stderr, "gasfs-memory-mount: %s\n", mount.error().text.c_str());
    return 1;
  }
  puts("mounted");
  fflush(stdout);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
