#include "recorder/code_objects.h"

#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

namespace haichi::recorder {
namespace {

std::string own_program() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, size_t(size)) : std::string();
}

int add(dl_phdr_info* object, size_t, void* list) {
  uint64_t begin = UINT64_MAX, end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    begin = std::min<uint64_t>(begin, object->dlpi_addr + part.p_vaddr);
    end = std::max<uint64_t>(end, object->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  if (begin >= end) return 0;
  std::string path = object->dlpi_name;
  if (path.empty()) path = own_program();  // only the program itself has no name
  static_cast<std::vector<record::CodeObject>*>(list)->push_back(
      {begin, end, object->dlpi_addr, std::move(path)});
  return 0;
}

}  // namespace

std::vector<record::CodeObject> code_objects() {
  std::vector<record::CodeObject> found;
  dl_iterate_phdr(add, &found);
  return found;
}

}  // namespace haichi::recorder
