#include "launch/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <utility>

namespace haichi::launch {
namespace {

static_assert(sizeof(void*) == 8 && std::endian::native == std::endian::little,
              "haichi runs on 64-bit little-endian machines");

constexpr struct {
  int machine;
  const char* name;
} kMachines[] = {
    {EM_386, "32-bit x86"}, {EM_X86_64, "x86-64"}, {EM_ARM, "32-bit Arm"}, {EM_AARCH64, "Arm64"},
    {EM_PPC64, "POWER"},    {EM_RISCV, "RISC-V"},  {EM_S390, "S/390"},
};

#if defined(__x86_64__)
constexpr int kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kOwnMachine = EM_AARCH64;
#elif defined(__powerpc64__)
constexpr int kOwnMachine = EM_PPC64;
#elif defined(__riscv)
constexpr int kOwnMachine = EM_RISCV;
#endif

std::string machine_name(int machine) {
  for (const auto& row : kMachines)
    if (row.machine == machine) return row.name;
  return fmt::format("processor number {}", machine);
}

tl::unexpected<Error> damaged(const std::string& path) {
  return fail(ENOEXEC, "{} is a damaged ELF file", path);
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(errno, "cannot read {}: {}", path, strerror(errno));
  struct stat info = {};
  const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const size_t size = regular ? size_t(info.st_size) : 0;
  void* data = size >= EI_NIDENT ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (data == MAP_FAILED) return fail(ENOEXEC, "{} is not an ELF file", path);
  ElfFile file(static_cast<const std::byte*>(data), size);
  if (auto parsed = file.parse(path); !parsed) return tl::unexpected(parsed.error());
  return file;
}

ElfFile::ElfFile(ElfFile&& other) noexcept { *this = std::move(other); }

ElfFile& ElfFile::operator=(ElfFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  needed_ = std::move(other.needed_);
  soname_ = other.soname_;
  rpath_ = other.rpath_;
  runpath_ = other.runpath_;
  has_interpreter_ = other.has_interpreter_;
  return *this;
}

ElfFile::~ElfFile() {
  if (data_) munmap(const_cast<std::byte*>(data_), size_);
}

template <class T>
const T* ElfFile::at(size_t offset, size_t count) const {
  if (offset > size_ || count > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0)
    return nullptr;
  return reinterpret_cast<const T*>(data_ + offset);
}

std::string_view ElfFile::string_at(size_t table, size_t table_size, size_t index) const {
  if (index >= table_size) return {};
  const char* text = at<char>(table, table_size);
  if (!text) return {};
  return {text + index, strnlen(text + index, table_size - index)};
}

Status ElfFile::parse(const std::string& path) {
  const auto* ident = at<unsigned char>(0, EI_NIDENT);
  if (!ident || memcmp(ident, ELFMAG, SELFMAG) != 0)
    return fail(ENOEXEC, "{} is not an ELF file", path);
  // e_machine lies at the same place in both classes.
  const auto* machine = at<uint16_t>(offsetof(Elf64_Ehdr, e_machine));
  if (!machine) return damaged(path);
  if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB || *machine != kOwnMachine) {
    return fail(ENOEXEC, "{} is built for {}{}; this haichi is for {}", path,
                machine_name(*machine),
                *machine == kOwnMachine ? " in another mode (32-bit or big-endian)" : "",
                machine_name(kOwnMachine));
  }
  const auto* header = at<Elf64_Ehdr>(0);
  if (!header) return damaged(path);
  const auto* segments = at<Elf64_Phdr>(header->e_phoff, header->e_phnum);
  if (!segments || header->e_phentsize != sizeof(Elf64_Phdr)) return damaged(path);
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_INTERP) has_interpreter_ = true;
    if (segments[i].p_type != PT_DYNAMIC) continue;
    if (auto done = parse_dynamic(path, segments[i].p_offset, segments[i].p_filesz); !done)
      return done;
  }
  return {};
}

Status ElfFile::parse_dynamic(const std::string& path, size_t offset, size_t size) {
  const size_t count = size / sizeof(Elf64_Dyn);
  const auto* entries = at<Elf64_Dyn>(offset, count);
  if (!entries) return damaged(path);
  size_t strings = 0, strings_size = 0;
  for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; ++i) {
    if (entries[i].d_tag == DT_STRTAB) strings = file_offset(entries[i].d_un.d_ptr);
    if (entries[i].d_tag == DT_STRSZ) strings_size = entries[i].d_un.d_val;
  }
  for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; ++i) {
    const auto tag = entries[i].d_tag;
    if (tag != DT_NEEDED && tag != DT_SONAME && tag != DT_RPATH && tag != DT_RUNPATH) continue;
    const std::string_view text = string_at(strings, strings_size, entries[i].d_un.d_val);
    if (text.empty() && tag == DT_NEEDED) return damaged(path);
    if (tag == DT_NEEDED) needed_.push_back(text);
    if (tag == DT_SONAME) soname_ = text;
    if (tag == DT_RPATH) rpath_ = text;
    if (tag == DT_RUNPATH) runpath_ = text;
  }
  return {};
}

// Where the loadable segments put `address` in the file; past its end if nowhere.
size_t ElfFile::file_offset(size_t address) const {
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* segments = at<Elf64_Phdr>(header->e_phoff, header->e_phnum);
  for (int i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr& s = segments[i];
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
      return s.p_offset + (address - s.p_vaddr);
  }
  return size_;
}

bool ElfFile::defines(std::string_view symbol) const {
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  if (!sections || header->e_shentsize != sizeof(Elf64_Shdr)) return false;
  for (int i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr& table = sections[i];
    if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
    const size_t count = table.sh_size / sizeof(Elf64_Sym);
    const auto* symbols = at<Elf64_Sym>(table.sh_offset, count);
    if (!symbols || table.sh_link >= header->e_shnum) continue;
    const Elf64_Shdr& strings = sections[table.sh_link];
    const char* text = at<char>(strings.sh_offset, strings.sh_size);
    if (!text) continue;
    for (size_t s = 0; s < count; ++s) {
      if (symbols[s].st_shndx == SHN_UNDEF) continue;
      const size_t name = symbols[s].st_name;
      // Compares in place first: most names differ in their first characters.
      if (name >= strings.sh_size || strings.sh_size - name <= symbol.size()) continue;
      if (memcmp(text + name, symbol.data(), symbol.size()) == 0 && text[name + symbol.size()] == 0)
        return true;
    }
  }
  return false;
}

}  // namespace haichi::launch
