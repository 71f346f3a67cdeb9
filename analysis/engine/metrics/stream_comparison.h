// Whether the receiver of a stream got each byte that the sender sent, exactly once. A plain value
// of constant size, whatever the number of transfers.
#pragma once

#include <cstdint>
#include <limits>

namespace sonde::engine::metrics {

class StreamComparison {
 public:
  // `cut`: the transfers are from a part of a run. Then each end may lack bytes before its first
  // and after its last one.
  explicit StreamComparison(bool cut) noexcept : cut_(cut) {}

  // Adds bytes from `offset` on, at the sending or the receiving end. Requires: ascending `offset`,
  // over both ends together.
  void add(bool sent, std::int64_t offset, std::int64_t bytes) noexcept;

  struct Result {
    std::int64_t sentBytes;
    std::int64_t missingBytes;  // sent, but not received
    std::int64_t unsentBytes;   // received, but not sent
    bool agrees;                // none missing, unsent, or transferred twice
  };
  // Requires: add() is not called afterwards.
  Result finish() noexcept;

 private:
  struct Side {
    std::int64_t reach = std::numeric_limits<std::int64_t>::min();  // end of its bytes
    // bytes that only the other side has
    std::int64_t lacks = 0;
    std::int64_t pending = 0;  // such bytes since its last own one
    bool seen = false;
  };
  void passTo(std::int64_t offset) noexcept;
  void settle(Side& side) const noexcept;

  bool cut_;
  bool twice_ = false;
  std::int64_t passed_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t sentBytes_ = 0;
  Side sent_;
  Side received_;
};

}  // namespace sonde::engine::metrics
