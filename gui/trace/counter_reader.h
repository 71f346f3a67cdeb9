// Reads the curve of a counter in a time range: its values, or the rate of a total, with at most
// one point a pixel.
//
// The first reading of a counter reads all its samples and keeps a summary of every eighth. So
// later windows cost about their pixels, however many samples the trace has. A cancelled reading
// goes on where it stopped. Worker's thread.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/counters/rate.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/trace/query_worker.h"
#include "gui/trace/trace_data.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sonde::gui {

using engine::counters::CounterPoint;

class CounterReader {
 public:
  // Forgets the counters of another trace.
  void clear() { summaries_.clear(); }

  // The curve in the request's span, with the value before it. Requires: the track is a counter's.
  Result<Curve> read(const store::Database& trace,
                     const TrackInfo& track,
                     const engine::align::HostClock& clock,
                     const WindowRequest& request,
                     const Cancellation& cancellation);

 private:
  // Makes values of samples. A gauge's value holds from its sample on. The rate of a total holds
  // between two samples; NaN: it began anew.
  class Values {
   public:
    Values(bool isTotal, bool isShare) : isTotal_(isTotal), isShare_(isShare) {}
    // Calls visit(startNs, value) if the sample completes a value.
    template <typename Visit>
    void add(std::int64_t ns, double value, Visit visit);

   private:
    bool isTotal_;
    bool isShare_;  // the rate of a time, in percent
    std::optional<CounterPoint> before_;
  };
  struct Summary {
    explicit Summary(Values none) : values(none) {}
    std::vector<CurvePoint> buckets;  // on the host's clock; each of kBucket values
    int inLast = 0;                   // values in the last bucket
    std::int64_t readUntilNs = std::numeric_limits<std::int64_t>::min();
    Values values;
    double low = 0;
    double high = 0;
    bool isComplete = false;
  };

  static Values valuesOf(const TrackInfo& track);
  Result<const Summary*> summaryOf(const store::Database& trace,
                                   const TrackInfo& track,
                                   const Cancellation& cancellation);
  static void addValue(Summary& summary, std::int64_t startNs, double value);

  std::map<std::int64_t, Summary> summaries_;  // by counter
};

}  // namespace sonde::gui
