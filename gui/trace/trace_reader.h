// Answers the window's questions from one trace. Lives on the worker's thread with its database
// connection.
//
// Painting asks window() and overview(), which read `lod` at the level that fits the pixels, or an
// index range where that is finer; the skeleton comes from the small tables and `line`. Only a
// search by name, which a person starts, goes through all events, in steps. Long answers look at
// the Cancellation and stop with an error that nobody reads.
#pragma once

#include "analysis/store/communication_kernels.h"
#include "base/result.h"
#include "gui/trace/host_clock.h"
#include "gui/trace/line_query.h"
#include "gui/trace/query_worker.h"
#include "gui/trace/trace_data.h"
#include "gui/trace/trace_opening.h"

#include <QHash>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace sonde::gui {

struct SearchRequest {
  QString text;  // part of a name, without regard to case
  std::int64_t fromNs = 0;
  EventRef from;        // that fromNs belongs to, id 0: none
  bool forward = true;  // the first hit after (fromNs, from), else the last before it; wraps round
};

class TraceReader {
 public:
  // Several paths are ranks of one job.
  Result<Skeleton> open(const QStringList& paths);
  Result<WindowReply> window(const WindowRequest& request, const Cancellation& cancellation);
  // One row of `bins` per process, over the whole trace.
  Result<std::vector<OverviewRow>> overview(int bins, const Cancellation& cancellation);
  Result<EventDetails> details(const EventRef& event);
  // "forward, inherited", of a transfer the thread that made it; empty: none.
  Result<QString> scopeOf(const EventRef& event);
  // The next (+1) or previous (-1) event on the same row; empty at its end.
  Result<std::optional<EventRef>> neighbour(const EventRef& event, int direction);
  Result<SearchReply> search(const SearchRequest& request, const Cancellation& cancellation);
  // Totals by name of what lies in [beginNs, endNs) on the request's tracks, longest first.
  Result<std::vector<SpanRow>> span(const WindowRequest& request, const Cancellation& cancellation);

 private:
  struct Hit {
    std::int64_t startNs;
    EventRef ref;
    auto operator<=>(const Hit&) const = default;
  };

  Result<FoundEvent> found(const EventRef& event);
  Result<void> place(FoundEvent& event, std::int64_t lane, std::int64_t depth);
  Result<Arrows> arrows(const EventRef& event);
  Result<std::optional<EventRef>> neighbourOnStream(const FoundEvent& event, int direction);
  Result<void> collectHits(const QString& text, const Cancellation& cancellation);
  Result<void> collectHits(Table table,
                           const std::vector<bool>& names,
                           const Cancellation& cancellation);
  // LineQuery::read, with the kernels of collectives told from the others.
  Result<void> read(LineQuery& query,
                    int track,
                    const Line& line,
                    const WindowRequest& request,
                    const LineQuery::Visit& visit);
  // The lines of a track down to the depth `deepest`. Cancelled, the query says so.
  Result<void> readTrack(LineQuery& query,
                         int track,
                         const WindowRequest& request,
                         const LineQuery::Visit& visit,
                         std::int64_t deepest = std::numeric_limits<std::int64_t>::max());
  Result<bool> isCollective(std::uint32_t nameId);
  Result<QString> text(std::uint32_t stringId);
  [[nodiscard]] const HostClock& clockOf(int track) const;
  [[nodiscard]] int trackOf(Owner owner, std::int64_t id) const;
  [[nodiscard]] store::Database& database() { return trace_->database; }

  std::optional<OpenedTrace> trace_;
  Skeleton skeleton_;
  std::vector<HostClock> clocks_;  // by process
  QHash<QPair<int, std::int64_t>, int> trackOf_;
  QHash<std::uint32_t, QString> texts_;
  std::optional<store::CommunicationKernels> communication_;  // none: not read yet
  QHash<std::uint32_t, bool> collectives_;  // by name: whether a kernel so named is one
  QString hitsOf_;                          // what hits_ were collected for
  std::vector<Hit> hits_;
};

}  // namespace sonde::gui
