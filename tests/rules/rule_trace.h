// Judges a made-up trace with devices by a built-in rule. For tests.
#pragma once

#include "rules/engine/check.h"
#include "tests/support/device_trace.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sonde::rules::test {

using Settings = std::vector<std::pair<std::string, ParameterValue>>;

class RuleTrace : public sonde::test::DeviceTrace {
 protected:
  // Stores what was added so far, and judges it.
  std::vector<CheckResult> judgeAll(const std::string& name, const Settings& settings = {}) {
    const RuleInfo& info = *findRule(name);
    ConfiguredRule rule{&info, Severity::Error, Parameters(info.parameters)};
    for (const auto& [parameter, value] : settings)
      EXPECT_TRUE(rule.parameters.set(parameter, value)) << parameter;
    if (!isOpen_) {
      trace_->finish();
      isOpen_ = true;
    }
    const store::Database trace = sonde::test::must(store::openTrace(path()));
    return sonde::test::must(check(trace, {{rule}, {}})).results;
  }
  // The result of a rule that gives one.
  CheckResult judge(const std::string& name, const Settings& settings = {}) {
    const auto results = judgeAll(name, settings);
    EXPECT_EQ(results.size(), 1U);
    return results.empty() ? CheckResult{} : results.front();
  }
  Verdict verdict(const std::string& name, const Settings& settings = {}) {
    return judge(name, settings).outcome.verdict;
  }

  void sources(std::string_view probes) { trace_->meta("sources", probes); }

  void gauge(model::HostId host,
             model::DeviceId device,
             std::string_view name,
             const std::vector<double>& eachSecond,
             model::ProcessId process = {}) {
    const auto counter = trace_->add(model::Counter{.hostId = host,
                                                    .processId = process,
                                                    .deviceId = device,
                                                    .nameId = trace_->name(name),
                                                    .unit = "1",
                                                    .kind = model::CounterKind::Gauge});
    std::int64_t ns = 0;
    for (const double value : eachSecond) {
      trace_->add(model::Sample{counter, ns, value});
      ns += 1'000'000'000;
    }
    trace_->add(model::Sample{counter, ns, eachSecond.back()});
  }

 private:
  bool isOpen_ = false;
};

}  // namespace sonde::rules::test
