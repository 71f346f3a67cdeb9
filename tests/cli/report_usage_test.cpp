// The use of machines in `sonde report`: the lines of its screen, the sections of --full and the
// keys of its JSON.
#include "tests/support/device_trace.h"
#include "tests/support/run_program.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kMs = 1'000'000;

//   ms        0    10   20   30   40   50
//   main      load-|forward--|sync-------|      from step 30 on the loader takes 10 ms more
//   stream              gemm------|
class UsageReport : public test::DeviceTrace {
 protected:
  void writeJob(std::int64_t steps) {
    const Rank one = rank(0);
    const auto main = stream(one, 7);
    const auto energy = counter("GPU energy", one, "J", model::CounterKind::Total);
    const auto busy = counter("GPU busy", one, "1", model::CounterKind::Gauge);
    std::int64_t at = 0;
    for (std::int64_t number = 0; number < steps; ++number) {
      const std::int64_t load = (number < 30 ? 10 : 20) * kMs + number % 7 * 1000;
      const std::int64_t end = at + load + 40 * kMs;
      step(one, number, {at, end});
      trace_->slice(one.thread, model::SliceKind::DataLoad, "data_load", {at, at + load});
      const std::int64_t from = at + load;
      const auto forward =
          trace_->slice(one.thread, model::SliceKind::Forward, "forward", {from, from + 20 * kMs});
      kernel(main, "gemm", {from + 10 * kMs, from + 30 * kMs}, {}, forward);
      call(one, "cudaStreamSynchronize", {from + 20 * kMs, end});
      trace_->add(model::Allocation{.processId = one.process,
                                    .deviceId = one.device,
                                    .address = number + 1,
                                    .bytes = 1000 + number,
                                    .allocNs = from,
                                    .freeNs = end,
                                    .scopeId = forward});
      trace_->add(model::Sample{energy, at, static_cast<double>(number)});
      trace_->add(model::Sample{busy, at, 1});
      at = end;
    }
    trace_->finish();
  }
  model::CounterId counter(std::string_view name,
                           const Rank& one,
                           std::string_view unit,
                           model::CounterKind kind) {
    return trace_->add(model::Counter{.hostId = host_,
                                      .deviceId = one.device,
                                      .nameId = trace_->name(name),
                                      .unit = unit,
                                      .kind = kind});
  }
  // A meter that counts `joules` in 100 ms.
  void meter(model::CounterId counter, double joules) {
    trace_->add(model::Sample{counter, 0, 0});
    trace_->add(model::Sample{counter, 100 * kMs, joules});
  }
  std::string report(std::vector<std::string> options) const {
    std::vector<std::string> words = {SONDE_PROGRAM, "report", path()};
    words.insert(words.end(), options.begin(), options.end());
    const test::Finished done = test::runProgram(words);
    EXPECT_EQ(done.err, "");
    EXPECT_EQ(done.status, 0);
    return done.out;
  }
};

TEST_F(UsageReport, HasALineForEachSubject) {
  writeJob(60);
  const std::string text = report({});
  EXPECT_THAT(text,
              HasSubstr("Bound      rank 0, gpu 0: kernels run 36.4 % (sampler: 100.0 %); "
                        "GPU-bound 18.2 %, host-bound 45.5 %"));
  EXPECT_THAT(text,
              HasSubstr("Stalls     rank 0: data loader 27.3 % of iterations (60 × ≥ 2.5 ms, "
                        "growing; devices idle 900 ms)"));
  EXPECT_THAT(text,
              HasSubstr("Changes    rank 0: 20.0 % longer from iteration 30 on (50 ms to 60 ms)"));
  EXPECT_THAT(text, HasSubstr("host data_load +10 ms"));
  EXPECT_THAT(text,
              HasSubstr("Memory     rank 0, gpu 0 (cuda): peak 1.0 KiB, in iteration 59; 100.0 % "
                        "of it by forward"));
  EXPECT_THAT(text, HasSubstr("Energy     gpu 0 (GPU energy): 59 J"));
}

// Meters are ordered by machine and device: this one is neither the first nor the last.
TEST_F(UsageReport, EnergyIsThatOfTheDeviceThatTookMost) {
  constexpr double kJoules[] = {5, 9, 7};
  for (std::int64_t number = 0; number < 3; ++number) {
    const Rank one = rank(number);
    step(one, 0, {0, 100 * kMs});
    kernel(stream(one, 7), "gemm", {10 * kMs, 90 * kMs});
    meter(counter("GPU energy", one, "J", model::CounterKind::Total), kJoules[number]);
  }
  meter(trace_->add(model::Counter{.hostId = host_,
                                   .nameId = trace_->name("energy package-0"),
                                   .unit = "J",
                                   .kind = model::CounterKind::Total}),
        100);
  trace_->finish();
  EXPECT_THAT(report({}), HasSubstr("Energy     gpu 1 (GPU energy): 9 J, 90 W, 9 J an iteration"));
  EXPECT_THAT(report({}), HasSubstr("3 more: --full"));
}

TEST_F(UsageReport, EnergyWithoutThatOfDevicesIsThatOfTheMeterThatCountedMost) {
  const Rank one = rank(0);
  step(one, 0, {0, 100 * kMs});
  for (const auto& [name, joules] : {std::pair("energy core (intel-rapl:0:0)", 4),
                                     std::pair("energy package-0 (intel-rapl:0)", 10),
                                     std::pair("energy uncore (intel-rapl:0:1)", 1)})
    meter(trace_->add(model::Counter{.hostId = host_,
                                     .nameId = trace_->name(name),
                                     .unit = "J",
                                     .kind = model::CounterKind::Total}),
          joules);
  trace_->finish();
  EXPECT_THAT(report({}), HasSubstr("Energy     h (energy package-0 (intel-rapl:0)): 10 J"));
}

TEST_F(UsageReport, HasTheTablesAsSections) {
  writeJob(60);
  const std::string text = report({"--full"});
  for (const char* heading : {"Devices and their hosts",
                              "Iterations held up by data loaders",
                              "Iterations that became longer or shorter",
                              "Memory at its peak",
                              "Memory, by operation",
                              "Energy, in the window",
                              "Energy, by operation"})
    EXPECT_THAT(text, HasSubstr(heading));
  EXPECT_THAT(text, Not(HasSubstr("not recorded")));
}

TEST_F(UsageReport, JsonHasTheTablesAndTheirLists) {
  writeJob(60);
  const json all = json::parse(report({"--format", "json"}), nullptr, false);
  const json& bound = all["bound"][0];
  EXPECT_EQ(bound["kernel_ns"], 60 * 20 * kMs);
  EXPECT_EQ(bound["bound_ns"], 60 * 10 * kMs);
  EXPECT_EQ(bound["useless_ns"], 60 * 10 * kMs);
  EXPECT_EQ(bound["overlap_ns"], 60 * 10 * kMs);
  EXPECT_EQ(bound["bound_ns"].get<std::int64_t>() + bound["useless_ns"].get<std::int64_t>() +
                bound["overlap_ns"].get<std::int64_t>() + bound["host_ns"].get<std::int64_t>(),
            bound["window_ns"]);
  EXPECT_EQ(bound["sampled_busy"], 1);
  const json& stall = all["stalls"][0];
  EXPECT_EQ(stall["cause"], "data loader");
  EXPECT_EQ(stall["count"], 60);
  EXPECT_EQ(stall["trend"], "grows");
  EXPECT_TRUE(stall["wait_ns"].is_null());  // no wait was recorded
  EXPECT_EQ(stall["device_idle_ns"], stall["ns"]);
  EXPECT_EQ(stall["worst"].size(), 5U);
  const json& change = all["changes"][0];
  EXPECT_EQ(change["number"], 30);
  EXPECT_EQ(change["operations"][0]["name"], "data_load");
  EXPECT_FALSE(change.contains("moved"));
  EXPECT_EQ(all["changes_in"][0]["verdict"], "changes");
  const json& memory = all["memory"][0];
  EXPECT_EQ(memory["peak_bytes"], 1059);
  EXPECT_EQ(memory["series"].size(), 120U);
  EXPECT_EQ(all["memory_holders"][0]["operation"], "forward");
  EXPECT_EQ(all["memory_operations"][0]["allocated_bytes"], 60 * 1000 + 59 * 30);
  EXPECT_EQ(all["energy"][0]["joules"], 59);
  EXPECT_EQ(all["energy_operations"][0]["operation"], "forward");
}

TEST_F(UsageReport, SaysWhatWasNotRecorded) {
  const Rank one = rank(0);
  step(one, 0, {0, 100});
  trace_->finish();
  const std::string text = report({"--full"});
  EXPECT_THAT(text, HasSubstr("Memory: not recorded"));
  EXPECT_THAT(text, HasSubstr("Energy: not recorded"));
  EXPECT_THAT(text, HasSubstr("rank 0: unknown: 1 iteration, at least 20 needed"));
  const json all = json::parse(report({"--format", "json"}), nullptr, false);
  for (const char* key : {"bound", "stalls", "changes", "memory", "energy", "energy_operations"})
    EXPECT_TRUE(all[key].is_array() && all[key].empty()) << key;
  EXPECT_EQ(all["changes_in"][0]["verdict"], "insufficient");
  EXPECT_THAT(report({}), Not(HasSubstr("Stalls")));
}

}  // namespace
}  // namespace sonde::cli
