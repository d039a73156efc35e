// The bytes of a file and of a buffer as the standard has them: MPI 4.1, 14.1.1 (views) and 5.1
// (typemaps). No MPI here. Offsets and lengths are in bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "oracle/type.h"

namespace oracle {

/// A run of bytes: of a buffer, relative to its address, or of a file.
struct Piece {
  int64_t at, length;
};

/// What the bytes of `count` items of a type are in memory, in the order of the data stream.
class MemoryMap {
 public:
  MemoryMap(const Typemap& type, int64_t count);

  const std::vector<Piece>& pieces() const { return pieces_; }
  int64_t bytes() const { return bytes_; }
  /// Range of the bytes, relative to the address that the call is given; 0 and 0 if none.
  int64_t low() const { return low_; }
  int64_t high() const { return high_; }
  bool overlaps() const;

 private:
  std::vector<Piece> pieces_;
  int64_t bytes_ = 0, low_ = 0, high_ = 0;
};

/// The file as one rank's view shows it: the filetype repeated from `displacement` on.
class ViewMap {
 public:
  ViewMap(int64_t displacement, TypePtr etype, TypePtr filetype);

  int64_t etype_size() const { return etype_size_; }
  /// The bytes first .. first+length-1 of the view's data, in their order.
  std::vector<Piece> pieces(int64_t first, int64_t length) const;
  /// How many bytes of the view's data come before the first one at or past file offset `limit`.
  int64_t bytes_below(int64_t limit) const;
  bool empty() const { return tile_size_ == 0; }
  /// True if the tiles would run into each other, so that only the first is for use: HDF5 has such
  /// views of chunked datasets.
  bool one_tile() const;

 private:
  int64_t displacement_;
  TypePtr filetype_;
  int64_t etype_size_, tile_size_, tile_extent_;
  std::vector<int64_t> before_;  // bytes of the tile before each of its basic elements
};

/// What one rank writes in one collective call.
struct RankWrite {
  int rank;
  std::vector<Piece> pieces;
  std::vector<uint8_t> data;  ///< in stream order
};

/// The bytes that a file must hold after each call. Only offsets from `base` on are kept, so that
/// a case can work far beyond 4 GiB in a sparse file.
class FileModel {
 public:
  explicit FileModel(int64_t base) : base_(base) {}

  /// Bytes that were in the file before the first call, from `base` on.
  void prefill(const std::vector<uint8_t>& bytes);
  /// One call. Where ranks overlap, any of their values is right (14.6.1).
  void write(const std::vector<RankWrite>& writes);
  /// End of the file; 0 while nothing was written.
  int64_t size() const { return size_; }
  /// Compares with what the file holds and takes over what the standard leaves open. `content` is
  /// the file from `base` on. Returns what is wrong. `lax_holes`: bytes that nobody wrote may be
  /// anything, as the standard has it; otherwise they must be zero, as the file system has it.
  std::optional<std::string> check(int64_t size, const std::vector<uint8_t>& content,
                                   bool lax_holes);

 private:
  static constexpr int kHole = -2, kPrefill = -1;
  int64_t base_, size_ = 0;
  int call_ = 0;
  std::vector<uint8_t> value_;
  std::vector<int> writer_;                          // last rank, or kHole, kPrefill
  std::vector<int> when_;                            // call that wrote it
  std::map<int64_t, std::vector<uint8_t>> choices_;  // overlaps of the last call
};

}  // namespace oracle
