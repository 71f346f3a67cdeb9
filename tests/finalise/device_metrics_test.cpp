#include "analysis/finalise/device_metrics.h"

#include "analysis/finalise/finaliser.h"
#include "tests/support/ingest_rig.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::ingest {
namespace {

using model::SliceKind;
using testing::ElementsAre;

class DeviceMetrics : public ::testing::Test {
 protected:
  DeviceMetrics() {
    const model::HostId host = trace_.add(model::Host{.name = "a"});
    process_.hostId = host;
    process_.pid = 10;
    process_.id = trace_.add(process_);
    thread_ = trace_.add(model::Thread{.processId = process_.id, .tid = 10});
    other_ = trace_.add(model::Thread{.processId = process_.id, .tid = 11});
    device_ = trace_.add(model::Device{.hostId = host, .kind = "gpu"});
  }
  void slice(const char* name,
             std::int64_t start,
             model::OptionalInt duration,
             SliceKind kind = SliceKind::Operation) {
    model::Slice row;
    row.threadId = thread_;
    row.kind = kind;
    row.nameId = trace_.name(name);
    row.startNs = start;
    row.durNs = duration;
    trace_.add(row);
  }
  void metric(model::ThreadId thread, std::int64_t start, double value) {
    model::DeviceMetric row;
    row.threadId = thread;
    row.deviceId = device_;
    row.nameId = trace_.name("sm__cycles_active.sum");
    row.startNs = start;
    row.durNs = 5;
    row.value = value;
    trace_.add(row);
  }
  std::vector<std::string> placed() {
    trace_.finish(false);
    store::Database trace = test::must(store::Database::open(path_, store::Access::ReadWrite));
    store::Transaction transaction = test::must(store::Transaction::begin(trace));
    test::must(placeDeviceMetrics(trace));
    test::must(transaction.commit());
    test::must(store::finalise(std::move(trace)));
    return test::readRows(
        test::must(store::Database::open(path_, store::Access::ReadOnly)),
        "SELECT CAST(value AS INTEGER), operation, name, device FROM v_device_metric ORDER BY 1");
  }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "metrics.sonde";
  test::TraceBuilder trace_{path_};
  model::Process process_;
  model::ThreadId thread_;
  model::ThreadId other_;
  model::DeviceId device_;
};

TEST_F(DeviceMetrics, AStretchIsOfTheInnermostScopeThatIsOpen) {
  slice("train", 0, 100, SliceKind::Iteration);
  slice("layer", 10, 20);
  slice("cudaLaunchKernel", 12, 5, SliceKind::Api);
  slice("pair", 30, 10, SliceKind::Range);
  slice("again", 40, 10);
  metric(thread_, 0, 1);
  metric(thread_, 13, 2);   // in a call, which is not a scope
  metric(thread_, 30, 3);   // at the operation's end it is over; a range is not a scope
  metric(thread_, 40, 4);   // at a scope's begin it is open
  metric(thread_, 40, 5);   // several metrics of one stretch
  metric(other_, 13, 6);    // another thread has its own scopes
  metric(thread_, 100, 7);  // no scope is open
  EXPECT_THAT(placed(),
              ElementsAre("1|train|sm__cycles_active.sum|0",
                          "2|layer|sm__cycles_active.sum|0",
                          "3|train|sm__cycles_active.sum|0",
                          "4|again|sm__cycles_active.sum|0",
                          "5|again|sm__cycles_active.sum|0",
                          "6|-|sm__cycles_active.sum|0",
                          "7|-|sm__cycles_active.sum|0"));
}

TEST_F(DeviceMetrics, AScopeThatNeverEndedIsOpen) {
  slice("train", 0, std::nullopt, SliceKind::Iteration);
  metric(thread_, 1'000'000, 1);
  EXPECT_THAT(placed(), ElementsAre("1|train|sm__cycles_active.sum|0"));
}

}  // namespace
}  // namespace sonde::ingest
