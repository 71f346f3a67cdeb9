// Mistakes that readers of GPU traces make, each with a trace that would show it.
#include "tests/engine/graph/trace_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::graph {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::Pair;

class Pitfalls : public test::TracePath {
 protected:
  model::SyncId record(model::StreamId on, std::int64_t atUs) {
    return trace_->add(model::Sync{.processId = rank_.process,
                                   .streamId = on,
                                   .kind = model::SyncKind::Record,
                                   .eventId = 1,
                                   .startNs = atUs * test::kUs,
                                   .durNs = 0});
  }
  void wait(model::StreamId on, std::int64_t atUs, model::SyncId record) {
    trace_->add(model::Sync{.processId = rank_.process,
                            .streamId = on,
                            .kind = model::SyncKind::Wait,
                            .eventId = 1,
                            .waitsForId = record,
                            .startNs = atUs * test::kUs,
                            .durNs = 0});
  }
  void synchronise(Span time) { call(rank_, "cudaDeviceSynchronize", time); }

  Rank rank_ = rank(0);
  model::StreamId compute_ = stream(rank_, 7);
  model::StreamId other_ = stream(rank_, 8);
};

// The handle is recorded again behind "second", which the waiting stream does not need.
TEST_F(Pitfalls, AStreamWaitsForOneRecordOfAnEvent) {
  step(rank_, 0, us(0, 200));
  kernel(compute_, "first", us(5, 60), call(rank_, "cudaLaunchKernel", us(0, 4)));
  const auto recorded = record(compute_, 10);
  kernel(compute_, "second", us(60, 66), call(rank_, "cudaLaunchKernel", us(12, 16)));
  record(compute_, 17);
  wait(other_, 18, recorded);
  kernel(other_, "waiting", us(70, 190), call(rank_, "cudaLaunchKernel", us(20, 24)));
  synchronise(us(30, 200));
  const auto parts = path();
  EXPECT_THAT(parts, Contains(Pair("device first", 55)));
  EXPECT_THAT(parts, Contains(Pair("device waiting", 120)));
  EXPECT_THAT(parts, Not(Contains(Pair("device second", ::testing::_))));
}

// Without the record's time nobody knows what it was recorded behind.
TEST_F(Pitfalls, AnEventWhoseTimeIs0IsNoWait) {
  step(rank_, 0, us(0, 200));
  kernel(compute_, "first", us(5, 60), call(rank_, "cudaLaunchKernel", us(1, 4)));
  wait(other_, 18, record(compute_, 0));
  kernel(other_, "waiting", us(60, 190), call(rank_, "cudaLaunchKernel", us(20, 24)));
  synchronise(us(30, 200));
  const auto parts = path();
  EXPECT_THAT(parts, Contains(Pair("device waiting", 130)));
  EXPECT_THAT(parts, Not(Contains(Pair("device first", ::testing::_))));
}

// No kernel computes while "reduce" runs: it is exposed. But the thread, which loads data
// meanwhile, ends the step. So the step would not end earlier without it.
TEST_F(Pitfalls, ExposedIsNotBlocking) {
  step(rank_, 0, us(0, 500));
  const auto launch = call(rank_, "cudaLaunchKernel", us(0, 10));
  kernel(compute_, "gemm", us(20, 60), launch);
  const auto reduce = call(rank_, "cudaLaunchKernel", us(10, 20));
  kernel(other_, "reduce", us(60, 300), reduce);
  trace_->slice(rank_.thread, model::SliceKind::Operator, "load", us(20, 480));
  synchronise(us(480, 500));
  EXPECT_THAT(path(),
              ElementsAre(Pair("host cudaLaunchKernel", 20),
                          Pair("host load", 460),
                          Pair("host cudaDeviceSynchronize", 20)));
}

}  // namespace
}  // namespace sonde::engine::graph
