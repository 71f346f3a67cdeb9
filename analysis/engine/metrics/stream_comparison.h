// Whether the bytes that one end of a stream sent are those that the other received, each once. A
// plain value of constant size, however many transfers it is given.
#pragma once

#include <cstdint>
#include <limits>

namespace sonde::engine::metrics {

class StreamComparison {
 public:
  // `cut`: the transfers are those of a part of a run. Then an end need not have what lies before
  // the first or behind the last that it has.
  explicit StreamComparison(bool cut) noexcept : cut_(cut) {}

  // The bytes from `offset` on, at the end that sends or at the one that receives.
  // Requires: ascending order of `offset`, of both ends together.
  void add(bool sent, std::int64_t offset, std::int64_t bytes) noexcept;

  struct Result {
    std::int64_t sentBytes;
    std::int64_t missingBytes;  // sent, but not received
    std::int64_t unsentBytes;   // received, but not sent
    bool agrees;                // none of these, and none sent or received twice
  };
  // Requires: there is no more.
  Result finish() noexcept;

 private:
  struct Side {
    std::int64_t reach = std::numeric_limits<std::int64_t>::min();  // where what it has ends
    std::int64_t lacks = 0;                                         // bytes that the other side has
    std::int64_t pending = 0;  // the same, since what it had last
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
