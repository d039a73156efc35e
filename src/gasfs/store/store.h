// All that one server keeps on its disk: objects, on the first server names too, and what the store
// is, so that it is never taken for another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/os.h"
#include "base/result.h"
#include "gasfs/store/names.h"
#include "gasfs/store/objects.h"

namespace haichi::gasfs {

struct StoreOptions {
  uint32_t index = 0;                 // which server's; the first one has the names
  uint32_t servers = 1;               // how many there are
  uint64_t stripe = Layout{}.stripe;  // of new files, bytes
  bool durable = false;
};

class Store {
 public:
  /// Makes a store where there is none. EBUSY if another process serves it, EINVAL if it was made
  /// as another server's or for another number of servers.
  static Result<std::unique_ptr<Store>> open(const std::string& folder,
                                             const StoreOptions& options);

  Objects& objects() { return *objects_; }
  /// None on servers behind the first.
  Names* names() { return names_.get(); }
  uint64_t id() const { return id_; }
  uint32_t index() const { return options_.index; }
  /// All that is in the kernel goes to the disk.
  Done sync();

 private:
  Store(FolderLock lock, const StoreOptions& options, Descriptor root)
      : lock_(std::move(lock)), options_(options), root_(std::move(root)) {}

  const FolderLock lock_;
  const StoreOptions options_;
  const Descriptor root_;
  uint64_t id_ = 0;
  std::unique_ptr<Objects> objects_;
  std::unique_ptr<Names> names_;
};

}  // namespace haichi::gasfs
