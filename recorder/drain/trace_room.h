// How much a trace may still grow: on its disk, and below a limit of its own. A little of the disk
// is taken while there is some and given up when it is full, so that the losses can still be
// written down: in an unnamed file, so that nothing is left behind. Owned by the drainer, on its
// thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>

namespace sonde::recorder {

class TraceRoom {
 public:
  // `limitBytes`: of the trace, with all that is beside it; 0: none but the disk.
  TraceRoom(std::filesystem::path part, std::uint64_t limitBytes);
  TraceRoom(const TraceRoom&) = delete;
  TraceRoom& operator=(const TraceRoom&) = delete;
  ~TraceRoom() { giveReserve(); }

  // How much the trace and what is beside it may still grow.
  std::uint64_t freeBytes() const;

  // Whether the trace can still be finished on its disk after `spoolBytes` more of the spool have
  // been stored …
  Result<void> check(std::uint64_t spoolBytes) const;
  // … and whether it would stay within its limit all the time. What is stored without asking, as
  // the losses, is on top: well below 1 MiB.
  bool withinLimit(std::uint64_t spoolBytes) const;

  // What is left of the limit, as a fraction, if the trace were finished now; 1 without a limit.
  double shareLeft() const;

  void giveReserve() noexcept;

 private:
  std::uint64_t diskBytes() const;
  std::uint64_t limitBytes() const;

  std::filesystem::path part_;
  std::uint64_t limit_;
  int reserve_ = -1;
};

}  // namespace sonde::recorder
