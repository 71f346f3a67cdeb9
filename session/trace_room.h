// How much a trace may still grow on its disk. A little of it is taken while there is some and
// given up when the disk is full, so that the losses can still be written down: in an unnamed file,
// so that nothing is left behind. Owned by the drainer, on its thread.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <filesystem>

namespace sonde::session {

class TraceRoom {
 public:
  explicit TraceRoom(std::filesystem::path part);
  TraceRoom(const TraceRoom&) = delete;
  TraceRoom& operator=(const TraceRoom&) = delete;
  ~TraceRoom() { giveReserve(); }

  std::uint64_t freeBytes() const;  // of the disk

  // Whether the trace can still be finished after `spoolBytes` more of the spool have been stored.
  Result<void> check(std::uint64_t spoolBytes) const;

  void giveReserve() noexcept;

 private:
  std::filesystem::path part_;
  int reserve_ = -1;
};

}  // namespace sonde::session
