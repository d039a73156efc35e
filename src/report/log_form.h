// How the log of a job is laid out: haichi.log/2, the report of a run as long as it has not ended.
//
// The ranks of a node share a file, in which each has a part of its own. A file begins with its
// head; a rank's part with two places for its totals, of which the newer one counts, and then has
// its records. All are frames: CRC-32 of what follows and the payload's size, 4 bytes each and
// little-endian, a kind, and the payload. So whoever reads knows of each frame whether it is whole,
// at whatever moment its writer was stopped. What nobody has written is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace haichi::report {

inline constexpr int64_t kHeadBytes = 256;
inline constexpr int64_t kTotalsBytes = 256;  ///< of each of the two places
/// Kept free at the end of a part for how the run ended.
inline constexpr int64_t kEndBytes = 96;
inline constexpr int64_t kLeastShare = 2 * kTotalsBytes + kEndBytes;

/// Which bytes of its node's file are a rank's.
struct LogPart {
  int64_t begin = 0, size = 0;
};

/// How many bytes each rank may use, so that the logs of all nodes have no more than `most_bytes`.
/// Rank 0, which says what the job is and knows the reasons, has an eighth at least. Where a rank's
/// share would be less than kLeastShare only the first ranks of each node have one.
class LogLayout {
 public:
  LogLayout(int ranks, int nodes, int most_of_a_node, int64_t most_bytes);
  /// As the head of a file says.
  LogLayout(int64_t of_rank_0, int64_t of_others) : of_rank_0_(of_rank_0), of_others_(of_others) {}

  int64_t of_rank_0() const { return of_rank_0_; }
  int64_t of_others() const { return of_others_; }
  /// Of the `local`-th rank of a node; rank 0 is the first one of node 0. Nothing if it has none.
  std::optional<LogPart> part(int node, int local) const;

 private:
  int64_t of_rank_0_ = 0, of_others_ = 0;
  int local_ranks_ = INT32_MAX;  // of each node, that have a part
};

/// What the payload of a frame is: a JSON object, or what log_records.h packs.
enum class FrameKind : uint8_t { none, text, totals, words, call, file, collective, counts };

/// Appends a frame to bytes; what is appended between begin() and the end of its life is the
/// payload. Its checksum is still missing: seal_frames().
class Frame {
 public:
  Frame(std::string& bytes, FrameKind kind);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  std::string& bytes_;
  const size_t begin_;
};

inline constexpr size_t kFrameHead = 9;

/// Puts the checksums into whole frames one behind the other. Takes no memory.
void seal_frames(char* frames, size_t size);

/// A frame of its own, sealed.
std::string sealed_frame(FrameKind kind, std::string_view payload);
/// The same at `to`, where kFrameHead + payload.size() bytes have room. Takes no memory.
void put_sealed_frame(char* to, FrameKind kind, std::string_view payload);

/// Takes the next frame off the beginning of `bytes`.
struct TakenFrame {
  FrameKind kind = FrameKind::none;  ///< none: there is no further one
  bool whole = true;
  std::string_view payload;
};
TakenFrame take_frame(std::string_view& bytes);

}  // namespace haichi::report
