// Reads the blocks of one line of a track in a time range, from the events themselves or from a
// level of detail.
//
// Keeps prepared statements for the many lines of a window. Worker's thread; must not outlive its
// database.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/trace/query_worker.h"
#include "gui/trace/trace_data.h"

#include <array>
#include <functional>
#include <optional>

namespace sonde::gui {

using engine::align::HostClock;

class LineQuery {
 public:
  using Visit = std::function<void(const Block&)>;

  LineQuery(const store::Database& trace, const Cancellation& cancellation)
      : trace_(trace), cancellation_(cancellation) {}

  // Visits the blocks that cross the request's span, by start. The resolution selects the level; 0:
  // the events themselves. In streams and channels, where events of a lane may overlap, the first
  // line of a lane reads the events of all its lines.
  Result<void> read(const TrackInfo& track,
                    const Line& line,
                    const HostClock& clock,
                    const WindowRequest& request,
                    const Visit& visit);

  [[nodiscard]] bool cancelled() const noexcept { return cancellation_.requested(); }

  // The level for this resolution; unset: the events themselves.
  [[nodiscard]] static std::optional<int> levelFor(const Line& line, double nsPerPixel);

 private:
  // The table of a line's events.
  enum class Events { Slices, Work, Syncs, Transfers, Count };

  static Events eventsOf(const TrackInfo& track, const Line& line);
  Result<store::Statement*> statement(std::optional<store::Statement>& kept, const char* sql);
  template <typename Make>
  Result<void> forEach(store::Statement& rows, Make make);
  Result<void> readSlices(const TrackInfo& track,
                          const Line& line,
                          const HostClock& clock,
                          const WindowRequest& request,
                          const Visit& visit);
  Result<void> readPacked(const TrackInfo& track,
                          const Line& line,
                          const HostClock& clock,
                          const WindowRequest& request,
                          const Visit& visit);
  Result<void> readLevel(const TrackInfo& track,
                         const Line& line,
                         const HostClock& clock,
                         const WindowRequest& request,
                         const Visit& visit);
  Result<void> askLength(Block& slice);

  const store::Database& trace_;
  const Cancellation& cancellation_;
  std::array<std::optional<store::Statement>, static_cast<std::size_t>(Events::Count)> events_;
  std::optional<store::Statement> levels_;
  std::optional<store::Statement> lengths_;
};

}  // namespace sonde::gui
