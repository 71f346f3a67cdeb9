// Measures how long all built-in rules take over a large trace, and each of them. Usage:
//   rules_scale RANKS ITERATIONS [TRACE]
// TRACE is kept, and used again if it exists. The job is a simulated data-parallel one: 32 layers
// and 8 buckets, all ranks on one machine. A rule's time includes facts that it was the first to ask
// for.
#include "analysis/store/trace_file.h"
#include "bench/large_job.h"
#include "rules/configuration/configuration.h"
#include "rules/engine/check.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

int main(int count, char** words) {
  using namespace sonde;
  using Clock = std::chrono::steady_clock;
  if (count != 3 && count != 4) {
    std::fprintf(stderr, "usage: rules_scale RANKS ITERATIONS [TRACE]\n");
    return 2;
  }
  const test::TemporaryFolder folder;
  const std::string path = count == 4 ? words[3] : folder / "job.sonde";
  if (!std::filesystem::exists(path) &&
      !bench::writeApart(false, std::atoi(words[1]), std::atoi(words[2]), path)) {
    std::fprintf(stderr, "rules_scale: cannot write %s\n", path.c_str());
    return 1;
  }
  const auto trace = test::must(store::openTrace(path));
  const auto events = test::must(trace.queryInteger(
      "SELECT (SELECT count(*) FROM slice) + (SELECT count(*) FROM kernel) + (SELECT count(*) FROM "
      "collective)"));
  const auto configuration = test::must(rules::defaultConfiguration(""));
  const auto memo = trace.remember();
  rules::Facts facts(trace);
  std::vector<std::pair<double, std::string>> times;
  double all = 0;
  for (const rules::ConfiguredRule& rule : configuration.rules) {
    const auto begin = Clock::now();
    rules::judgeRule(facts, rule, {}, "2027-01-01");
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    all += seconds;
    times.emplace_back(seconds, rule.info->name);
  }
  std::sort(times.rbegin(), times.rend());
  for (std::size_t i = 0; i < std::min<std::size_t>(12, times.size()); ++i)
    std::printf("%8.3f s  %s\n", times[i].first, times[i].second.c_str());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%zu rules over %.2f M events: %.2f s; at most %ld MiB\n",
              times.size(),
              static_cast<double>(events) / 1e6,
              all,
              usage.ru_maxrss / 1024);
  return 0;
}
