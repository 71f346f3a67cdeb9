// Answers the window's queries from one trace. Lives on the worker's thread with its database
// connection.
//
// For painting, window() and overview() read `lod` at the level that fits the pixels, or an index
// range for finer views. The skeleton comes from the small tables and `line`. Only a user's search
// by name reads all events, in steps. Long queries check the Cancellation and then return an error
// that is ignored.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/store/communication_kernels.h"
#include "base/result.h"
#include "gui/trace/counter_reader.h"
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

using engine::align::HostClock;

struct SearchRequest {
  QString text;  // part of a name, ignoring case
  std::int64_t fromNs = 0;
  EventRef from;        // the event at fromNs, id 0: none
  bool forward = true;  // the first hit after (fromNs, from), else the last before it; wraps around
};

class TraceReader {
 public:
  // Several paths are ranks of one job.
  Result<Skeleton> open(const QStringList& paths, const OpeningWatch& watch = {});
  // That of the open trace; Skeleton::opening is 0 if none was opened.
  [[nodiscard]] const Skeleton& skeleton() const { return skeleton_; }
  Result<WindowReply> window(const WindowRequest& request, const Cancellation& cancellation);
  // One row of `bins` per process, over the whole trace.
  Result<std::vector<OverviewRow>> overview(int bins, const Cancellation& cancellation);
  Result<EventDetails> details(const EventRef& event);
  // "forward, inherited"; for a transfer the thread that made it; empty: none.
  Result<QString> scopeOf(const EventRef& event);
  // The next (+1) or previous (-1) event in the same row; unset at the end.
  Result<std::optional<EventRef>> neighbour(const EventRef& event, int direction);
  Result<SearchReply> search(const SearchRequest& request, const Cancellation& cancellation);
  // Totals by name of the events in [beginNs, endNs) on the request's tracks, longest first.
  Result<std::vector<SpanRow>> span(const WindowRequest& request, const Cancellation& cancellation);

 private:
  struct Hit {
    std::int64_t startNs;
    EventRef ref;
    auto operator<=>(const Hit&) const = default;
  };

  Result<FoundEvent> found(const EventRef& event);
  Result<void> place(FoundEvent& event, std::int64_t lane, std::int64_t depth);
  // A call and its work.
  Result<Arrows> launches(const EventRef& event);
  // Both ends of a transfer, waits and the slices that ended them, parts of a collective.
  Result<void> addLinks(EventDetails& details);
  Result<void> addTransferEnds(EventDetails& details);
  Result<void> addWaker(EventDetails& details);
  Result<void> addWoken(EventDetails& details);
  Result<void> addRanks(EventDetails& details);
  // The innermost slice of a thread at a time of its host.
  Result<std::optional<EventRef>> sliceAt(std::int64_t threadId, std::int64_t ns);
  Result<void> addTarget(const EventRef& event, Arrows& arrows);
  Result<std::optional<EventRef>> neighbourOnStream(const FoundEvent& event, int direction);
  Result<void> collectHits(const QString& text, const Cancellation& cancellation);
  Result<void> collectHits(Table table,
                           const std::vector<bool>& names,
                           const Cancellation& cancellation);
  Result<void> collectHitsByArgument(Table table,
                                     const QString& key,
                                     const QString& value,
                                     const Cancellation& cancellation);
  // LineQuery::read, with collectives' kernels as a kind of their own.
  Result<void> read(LineQuery& query,
                    int track,
                    const Line& line,
                    const WindowRequest& request,
                    const LineQuery::Visit& visit);
  // The lines of a track down to depth `deepest`. The query reports cancellation.
  Result<void> readTrack(LineQuery& query,
                         int track,
                         const WindowRequest& request,
                         const LineQuery::Visit& visit,
                         std::int64_t deepest = std::numeric_limits<std::int64_t>::max());
  Result<bool> isCollective(std::uint32_t nameId);
  Result<QString> text(std::uint32_t stringId);
  [[nodiscard]] const HostClock& clockOf(int track) const;
  // The request's correction of a track; one without knots: its times stay.
  [[nodiscard]] const engine::correction::Timeline& timesOf(int track,
                                                            const WindowRequest& request) const;
  [[nodiscard]] int trackOf(Owner owner, std::int64_t id) const;
  [[nodiscard]] store::Database& database() { return trace_->database; }

  std::optional<OpenedTrace> trace_;
  Skeleton skeleton_;
  std::vector<HostClock> clocks_;  // by process
  QHash<QPair<int, std::int64_t>, int> trackOf_;
  CounterReader counters_;
  QHash<std::uint32_t, QString> texts_;
  std::optional<store::CommunicationKernels> communication_;  // unset: not read yet
  QHash<std::uint32_t, bool> collectives_;  // by name: whether such a kernel is a collective's
  QString hitsOf_;                          // the text that hits_ were collected for
  std::vector<Hit> hits_;
};

}  // namespace sonde::gui
