// Writes down what a folder does, so that it can be read when the process has been killed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/fold_stack.h"
#include "record/memory.h"
#include "record/sequence_layout.h"

namespace haichi::record {

/// Not thread-safe.
class SequenceKeeper {
 public:
  /// The layout's head lies at `at` of the memory, which outlives this. Nothing is kept of memory
  /// that is in no file.
  SequenceKeeper(Memory& memory, size_t at, const SequenceLayout& layout);

  /// The stack has taken an event. If the file cannot take it, it and all behind it are left out.
  void added(const FoldStack& stack, uint32_t event, int64_t compute_ns, int64_t took_ns) {
    if (head_ != nullptr) log(stack, event, compute_ns, took_ns);
  }
  /// The stack takes no more.
  void cut();

 private:
  void log(const FoldStack& stack, uint32_t event, int64_t compute_ns, int64_t took_ns);
  bool is_in_file(size_t offset, size_t bytes);
  bool copy(const FoldStack& stack);

  Memory& memory_;
  const size_t at_;
  const SequenceLayout layout_;
  SequenceHead* head_ = nullptr;  // null: nothing is kept, or nothing more
  uint32_t logged_ = 0, most_logged_ = 0;
};

}  // namespace haichi::record
