// The sampler's readings on their way into the trace, kept until the transaction that stores them
// has committed. Owned by the drainer, on its thread.
#pragma once

#include "recorder/drain/image_set.h"
#include "recorder/drain/trace_recorder.h"
#include "recorder/system/readings.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::recorder {

class SampleStore {
 public:
  void add(system::Batch batch);
  // A second of readings is there: smaller transactions cost more than they are worth.
  bool isDue() const noexcept;

  // Requires: a transaction. Samples belong to a host, so they wait until the trace has a process.
  Result<void> store(ImageSet& images, TraceRecorder& trace);
  void committed();
  void rolledBack();
  // The trace that had the counters is gone.
  void begunAnew();
  // Forgets earlier readings, except the last one of each counter.
  void forgetBefore(std::int64_t ns);
  // There is no room for these readings or any further ones.
  void giveUp() noexcept;

 private:
  struct Counter {
    system::Metric metric;
    model::CounterId id{};  // none: not yet stored
    bool isUncommitted = false;
  };
  model::CounterId counterOf(Counter& counter,
                             std::int64_t ns,
                             ImageSet& images,
                             TraceRecorder& trace,
                             model::HostId host) const;

  std::vector<Counter> counters_;          // by the sampler's number
  std::vector<system::Reading> readings_;  // not committed
  std::vector<system::Reading> waiting_;   // those among them that wait for a process in the trace
  bool isStored_ = false;                  // in the open transaction
  bool isGivenUp_ = false;
  std::uint64_t lost_ = 0;  // readings that did not fit
};

}  // namespace sonde::recorder
