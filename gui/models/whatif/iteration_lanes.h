// An iteration of the job as it was measured, and as it would be: the same work on the same
// threads and streams, at other times. Plain values; any thread.
#pragma once

#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/whatif/answer.h"
#include "base/result.h"
#include "gui/models/whatif/asked_trace.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace sonde::gui {

// "iteration 12"; if the trace has none, one entry for all of it.
[[nodiscard]] QStringList iterationTitles(const AskedTrace& trace);
// The one of median length; 0 if there is none.
[[nodiscard]] std::size_t usualIteration(const AskedTrace& trace);

// More are no longer a picture.
inline constexpr std::size_t kMostLaneParts = 100'000;

struct IterationParts {
  std::vector<engine::critical::PathPart> parts;  // by begin
  std::size_t left = 0;                           // shorter ones that are not there
};
// The work of an iteration with its names: the longest `most` parts. Requires: there is such an
// iteration.
[[nodiscard]] Result<IterationParts> iterationParts(const AskedTrace& trace,
                                                    std::size_t iteration,
                                                    std::size_t most = kMostLaneParts);

// Times since the begin of the iteration.
struct LanePart {
  std::size_t lane = 0;
  engine::critical::PathCause cause = engine::critical::PathCause::Host;
  QString text;
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
};

struct IterationLanes {
  std::vector<QString> lanes;  // the same now and then
  std::vector<LanePart> now;
  std::vector<LanePart> then;
  std::int64_t nowNs = 0;  // the length of the iteration
  std::int64_t thenNs = 0;
};
struct LanesRequest {
  std::size_t iteration = 0;
  std::optional<std::int64_t> rank;  // only its lanes; nullopt: all
};
// By rank. `parts`: those of the iteration. `answer`: nullptr: the times as they were measured.
// Work that a question added is not there.
[[nodiscard]] IterationLanes lanesOf(const AskedTrace& trace,
                                     const LanesRequest& request,
                                     const std::vector<engine::critical::PathPart>& parts,
                                     const engine::whatif::Answer* answer);

}  // namespace sonde::gui
