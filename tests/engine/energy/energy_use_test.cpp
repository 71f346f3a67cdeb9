// Operations' energy from the meters of machines and devices.
#include "analysis/engine/energy/energy_use.h"

#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

namespace sonde::engine::energy {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kMs = 1'000'000;

class EnergyUses : public test::DeviceTrace {
 protected:
  void meter(std::string_view name,
             model::DeviceId device,
             std::string_view unit,
             const std::vector<std::pair<std::int64_t, double>>& readings) {
    const auto counter = trace_->add(model::Counter{
        .hostId = host_,
        .deviceId = device,
        .nameId = trace_->name(name),
        .unit = unit,
        .kind = unit == "J" ? model::CounterKind::Total : model::CounterKind::Gauge});
    for (const auto& [ms, value] : readings)
      trace_->add(model::Sample{counter, ms * kMs, value});
  }
  // 100 ms: forward 0 to 40, with its kernel at 50 to 100; then nothing.
  Rank training() {
    const Rank one = rank(0);
    const auto step =
        trace_->slice(one.thread, model::SliceKind::Iteration, "step", {0, 100 * kMs});
    model::Iteration row{
        .processId = one.process, .number = 0, .startNs = 0, .durNs = 100 * kMs, .sliceId = step};
    row.samples = 50;
    trace_->add(row);
    const auto forward =
        trace_->slice(one.thread, model::SliceKind::Forward, "forward", {0, 40 * kMs}, step);
    const auto module =
        trace_->slice(one.thread, model::SliceKind::Module, "fc", {5 * kMs, 30 * kMs}, forward);
    kernel(stream(one, 7), "gemm", {50 * kMs, 100 * kMs}, {}, module);
    return one;
  }
  std::vector<EnergyUse> read() { return usesOf(open()); }
  static std::vector<EnergyUse> usesOf(const store::Database& trace,
                                       const std::optional<metrics::Interval>& within = {}) {
    const auto ranks = test::must(metrics::readRanks(trace));
    std::vector<metrics::Throughput> throughput;
    throughput.reserve(ranks.size());
    for (const metrics::RankProcess& rank : ranks)
      throughput.push_back(
          metrics::throughputOf(rank, test::must(metrics::workOf(trace, rank, {}))));
    return test::must(energyUses(trace, ranks, throughput, within));
  }
};

TEST_F(EnergyUses, OfAMachineAreThoseOfItsThreads) {
  training();
  meter("energy package-0 (intel-rapl:0)", {}, "J", {{0, 10}, {40, 14}, {100, 16}});
  const auto uses = read();
  ASSERT_THAT(uses, SizeIs(1));
  const EnergyUse& use = uses[0];
  EXPECT_EQ(use.place, "h");
  EXPECT_NEAR(use.energy.joules, 6, 1e-9);
  ASSERT_THAT(use.operations, SizeIs(2));
  EXPECT_EQ(use.operations[0].name, "forward");
  EXPECT_NEAR(use.operations[0].share.joules, 4, 1e-9);
  EXPECT_NEAR(use.operations[0].share.low, 4, 1e-9);
  EXPECT_EQ(use.operations[1].name, "(outside)");  // in the step, outside of its operations
  EXPECT_NEAR(use.operations[1].share.joules, 2, 1e-9);
  EXPECT_NEAR(use.energy.idle.joules, 0, 1e-9);
  EXPECT_EQ(use.iterations, 1);
  EXPECT_NEAR(*use.watts, 60, 1e-6);
  EXPECT_NEAR(*use.joulesPerIteration, 6, 1e-6);
  EXPECT_NEAR(*use.samplesPerJoule, 50 / 6.0, 1e-6);
  EXPECT_EQ(use.tokensPerJoule, std::nullopt);
}

TEST_F(EnergyUses, OfARangeAreThoseInIt) {
  training();
  meter("energy package-0 (intel-rapl:0)", {}, "J", {{0, 10}, {40, 14}, {100, 16}});
  const store::Database trace = open();
  const auto uses = usesOf(trace, metrics::Interval{30 * kMs, 70 * kMs});
  ASSERT_THAT(uses, SizeIs(1));
  EXPECT_NEAR(uses[0].energy.joules, 2, 1e-9) << "a quarter of 4, and half of 2";
  EXPECT_NEAR(uses[0].operations[0].share.joules, 1, 1e-9);
  EXPECT_NEAR(*uses[0].watts, 50, 1e-6);
  EXPECT_THAT(usesOf(trace, metrics::Interval{200 * kMs, 300 * kMs}), IsEmpty());
}

// An operator from 0 to 20 and a wait from 60 to 100, both outside of operations; nothing in
// between.
TEST_F(EnergyUses, OfAMachineAreIdleWhereItsThreadsDoNothingOrWaitOutsideOfOperations) {
  const Rank one = rank(0);
  trace_->slice(one.thread, model::SliceKind::Operator, "aten::mm", {0, 20 * kMs});
  trace_->slice(one.thread, model::SliceKind::Wait, "poll", {60 * kMs, 100 * kMs}, {}, "sync");
  meter("energy package-0 (intel-rapl:0)", {}, "J", {{0, 0}, {20, 4}, {60, 7}, {100, 9}});
  const auto uses = read();
  ASSERT_THAT(uses, SizeIs(1));
  ASSERT_THAT(uses[0].operations, SizeIs(1));
  EXPECT_EQ(uses[0].operations[0].name, "(outside)");
  EXPECT_NEAR(uses[0].operations[0].share.joules, 4, 1e-9);
  EXPECT_NEAR(uses[0].energy.idle.joules, 5, 1e-9);
}

TEST_F(EnergyUses, OfADeviceAreThoseOfWhatLaunchedItsWork) {
  const Rank one = training();
  meter("GPU energy", one.device, "J", {{0, 0}, {50, 5}, {100, 25}});
  meter("GPU power", one.device, "W", {{0, 1000}, {100, 1000}});  // energy takes precedence
  const auto uses = read();
  ASSERT_THAT(uses, SizeIs(1));
  EXPECT_EQ(uses[0].place, "gpu 0");
  EXPECT_FALSE(uses[0].fromPower);
  ASSERT_THAT(uses[0].operations, SizeIs(1));
  EXPECT_EQ(uses[0].operations[0].name, "forward");
  EXPECT_NEAR(uses[0].operations[0].share.joules, 20, 1e-9);
  EXPECT_NEAR(uses[0].energy.idle.joules, 5, 1e-9);
}

TEST_F(EnergyUses, OfADeviceThatTellsPowerAloneAreItsSum) {
  const Rank one = training();
  meter("GPU power", one.device, "W", {{0, 100}, {100, 300}});
  const auto uses = read();
  ASSERT_THAT(uses, SizeIs(1));
  EXPECT_TRUE(uses[0].fromPower);
  EXPECT_NEAR(uses[0].energy.joules, 20, 1e-6);
}

TEST_F(EnergyUses, AnIterationTakesNothingOfThoseOfWhichLessWasRecorded) {
  const Rank one = rank(0);
  const std::int64_t masks[] = {5, 1, 5, 5};  // the third is the first one after a switch
  for (std::int64_t number = 0; number < 4; ++number)
    trace_->add(model::Iteration{.processId = one.process,
                                 .number = number,
                                 .startNs = number * 100 * kMs,
                                 .durNs = 100 * kMs,
                                 .probeMask = masks[number]});
  meter("energy package-0 (intel-rapl:0)", {}, "J", {{0, 0}, {400, 40}});
  const auto uses = read();
  ASSERT_THAT(uses, SizeIs(1));
  EXPECT_EQ(uses[0].iterations, 2);
  EXPECT_NEAR(*uses[0].watts, 100, 1e-6);
  EXPECT_NEAR(*uses[0].joulesPerIteration, 10, 1e-6);
}

TEST_F(EnergyUses, AreNoneWithoutMetersOrOfDevicesThatNobodyUsed) {
  const Rank one = training();
  const auto unused =
      trace_->add(model::Device{.hostId = host_, .kind = "gpu", .ordinal = one.process.value + 7});
  meter("GPU energy", unused, "J", {{0, 0}, {100, 25}});
  meter("GPU temperature", one.device, "C", {{0, 40}, {100, 50}});
  EXPECT_THAT(read(), IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::energy
