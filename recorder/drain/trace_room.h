// How much a trace may still grow: on its disk, and within its own limit. Reserves a little disk
// space in time, and frees it when the disk is full, so that the losses can still be stored. The
// reserve is an unnamed file, so no file is left behind. Owned by the drainer, on its thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>

namespace sonde::recorder {

class TraceRoom {
 public:
  // `limitBytes`: for the trace with all files next to it; 0: only the disk limits it.
  TraceRoom(std::filesystem::path part, std::uint64_t limitBytes);
  TraceRoom(const TraceRoom&) = delete;
  TraceRoom& operator=(const TraceRoom&) = delete;
  ~TraceRoom() { giveReserve(); }

  // How much the trace and the files next to it may still grow.
  std::uint64_t freeBytes() const;

  // Whether the disk has room to finish the trace after storing `spoolBytes` more of the spool …
  Result<void> check(std::uint64_t spoolBytes) const;
  // … and whether the trace would stay within its limit all the time. Rows that are stored
  // unconditionally, such as losses, come on top: well below 1 MiB.
  bool withinLimit(std::uint64_t spoolBytes) const;

  // The share of the limit that would be left if the trace were finished now; 1 without a limit.
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
