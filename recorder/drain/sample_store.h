// What the sampler read, on its way into the trace: kept until the transaction that stores it has
// committed. Owned by the drainer, on its thread.
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
  // A second of it is there: smaller transactions would cost more than they bring.
  bool isDue() const noexcept;

  // Requires: a transaction. Without a process in the trace, whose host the samples are of, they
  // wait.
  Result<void> store(ImageSet& images, TraceRecorder& trace);
  void committed();
  void rolledBack();
  // The trace that had the counters is gone.
  void begunAnew();
  // Readings from before, but the last of each counter.
  void forgetBefore(std::int64_t ns);
  // There is no room for any of it, nor for what comes.
  void giveUp() noexcept;

 private:
  struct Counter {
    system::Metric metric;
    model::CounterId id{};  // none: not stored yet
    bool isUncommitted = false;
  };
  model::CounterId counterOf(Counter& counter,
                             std::int64_t ns,
                             ImageSet& images,
                             TraceRecorder& trace,
                             model::HostId host) const;

  std::vector<Counter> counters_;          // by the sampler's number
  std::vector<system::Reading> readings_;  // not committed
  std::vector<system::Reading> waiting_;   // of these, for a process that the trace does not have
  bool isStored_ = false;                  // in the transaction that is open
  bool isGivenUp_ = false;
  std::uint64_t lost_ = 0;  // readings that found no room
};

}  // namespace sonde::recorder
