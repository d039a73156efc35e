#include "numaio/page_query.h"

#include <errno.h>
#include <numaif.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace haichi::numaio {
namespace {

constexpr size_t kMostAtOnce = 4096;  // of one system call

int state_of(int status) {
  if (status >= 0) return status;
  return status == -ENOENT ? kUntouched : status == -EFAULT ? kNoPage : kUnknown;
}

}  // namespace

int64_t page_size() { return getpagesize(); }

LookUp memory_pages(uintptr_t base, int64_t page_bytes, pid_t pid) {
  return [=](std::span<const int64_t> pages, std::span<int> nodes) -> Status {
    std::vector<void*> addresses;
    for (size_t done = 0; done < pages.size(); done += addresses.size()) {
      addresses.clear();
      for (size_t i = done; i < std::min(pages.size(), done + kMostAtOnce); ++i)
        addresses.push_back(reinterpret_cast<void*>(base + uintptr_t(pages[i] * page_bytes)));
      int* const status = nodes.data() + done;
      if (move_pages(pid, addresses.size(), addresses.data(), nullptr, status, 0) < 0)
        return fail(errno, "where pages lie is not told (move_pages): {}", strerror(errno));
      std::transform(status, status + addresses.size(), status, state_of);
    }
    return {};
  };
}

Result<FilePages> FilePages::open(int fd, int64_t file_bytes) {
  if (file_bytes <= 0) return fail(EINVAL, "the file is empty");
  void* const memory = mmap(nullptr, size_t(file_bytes), PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return fail(errno, "the file can't be mapped: {}", strerror(errno));
  madvise(memory, size_t(file_bytes), MADV_RANDOM);  // no reading ahead
  return FilePages(memory, file_bytes);
}

FilePages::FilePages(FilePages&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}

FilePages::~FilePages() {
  if (memory_ != nullptr) munmap(memory_, size_t(bytes_));
}

int64_t FilePages::pages() const { return (bytes_ + page_size() - 1) / page_size(); }

Status FilePages::look_up(std::span<const int64_t> pages, std::span<int> nodes) const {
  const auto page_bytes = size_t(page_size());
  std::vector<int64_t> cached;
  std::vector<size_t> place;
  for (size_t i = 0; i < pages.size(); ++i) {
    void* const at = static_cast<char*>(memory_) + size_t(pages[i]) * page_bytes;
    unsigned char resident = 0;
    if (mincore(at, page_bytes, &resident) != 0) {
      nodes[i] = kUnknown;
    } else if ((resident & 1) == 0) {
      nodes[i] = kUntouched;
    } else if (madvise(at, page_bytes, MADV_POPULATE_READ) != 0) {
      nodes[i] = kUnknown;  // a mere read might end us by SIGBUS
    } else {
      cached.push_back(pages[i]);
      place.push_back(i);
    }
  }
  if (cached.empty()) return {};
  std::vector<int> found(cached.size());
  const LookUp look = memory_pages(reinterpret_cast<uintptr_t>(memory_), page_size());
  if (auto asked = look(cached, found); !asked) return asked;
  for (size_t i = 0; i < found.size(); ++i)
    nodes[place[i]] = found[i] >= 0 ? found[i] : int(kUnknown);
  return {};
}

Result<int64_t> FilePages::cached() const {
  const int64_t step = int64_t{1} << 16;  // pages
  std::vector<unsigned char> resident(static_cast<size_t>(step));
  int64_t sum = 0;
  for (int64_t page = 0; page < pages(); page += step) {
    const int64_t some = std::min(step, pages() - page);
    void* const at = static_cast<char*>(memory_) + page * page_size();
    if (mincore(at, size_t(some * page_size()), resident.data()) != 0)
      return fail(errno, "what is cached is not told (mincore): {}", strerror(errno));
    for (int64_t i = 0; i < some; ++i) sum += resident[size_t(i)] & 1;
  }
  return sum;
}

}  // namespace haichi::numaio
