// Measures the cost of a breakdown. Usage:
//   breakdown sweep EVENTS CATEGORIES   the sweep alone: random categories, active for 1 to 20 µs
//   each
//                                       time with equally long gaps, as in RL-Scope's measurement
//   breakdown load TRACE                reading a trace, beside a bare scan of the same columns
//   breakdown correct TRACE             a whole breakdown on one core, as recorded, and corrected
//   for
//                                       the recording costs of performance.md
// Prints the median of five rounds and their range, in million events per second.
#include "analysis/engine/breakdown/breakdown.h"

#include "analysis/engine/breakdown/process_events.h"
#include "analysis/engine/breakdown/sweep.h"
#include "analysis/store/trace_file.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace sonde;
using engine::breakdown::Label;
using engine::breakdown::Track;

constexpr int kRounds = 5;

double secondsOf(auto work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print(const char* what, double events, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  std::printf("%-12s %6.2f M events/s (%.2f to %.2f)\n",
              what,
              events / seconds[seconds.size() / 2] / 1e6,
              events / seconds.back() / 1e6,
              events / seconds.front() / 1e6);
}

int sweepEvents(std::size_t events, std::size_t categories) {
  std::mt19937_64 random(1);
  std::vector<Track> tracks(categories);
  for (std::size_t at = 0; at < categories; ++at) {
    std::int64_t ns = 0;
    const auto next = [&] { return ns += 1000 + static_cast<std::int64_t>(random() % 19'000); };
    for (std::size_t event = 0; event < events / categories; ++event) {
      const std::int64_t begin = next();
      tracks[at].add({begin, next(), static_cast<Label>(at)});
    }
  }
  std::vector<double> seconds;
  std::size_t sets = 0;
  for (int round = 0; round < kRounds; ++round)
    seconds.push_back(secondsOf([&] { sets = engine::breakdown::sweep(tracks).sets.size(); }));
  print("sweep", static_cast<double>(events), seconds);
  std::printf("%zu sets\n", sets);
  return 0;
}

// The columns that a breakdown reads; those with words last.
constexpr const char* kScans[] = {
    "SELECT id, thread_id, name_id, start_ns, dur_ns, scope_id, depth, kind, category FROM slice",
    "SELECT stream_id, start_ns, dur_ns, scope_id, id, name_id FROM kernel",
    "SELECT stream_id, start_ns, dur_ns, scope_id FROM copy"};

int loadTrace(const char* path) {
  const auto trace = store::openTrace(path);
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    return 1;
  }
  std::vector<double> scans;
  std::vector<double> loads;
  std::int64_t rows = 0;
  std::int64_t sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    rows = 0;
    scans.push_back(secondsOf([&] {
      for (const char* const sql : kScans) {
        auto scan = *trace->prepare(sql);
        for (; *scan.step(); ++rows)
          for (int column = 0; column < scan.columnCount(); ++column)
            sum += column > 6 ? static_cast<std::int64_t>(scan.text(column).size())
                              : scan.integer(column);
      }
    }));
    loads.push_back(secondsOf([&] { sum += engine::breakdown::readEvents(*trace, {})->negative; }));
  }
  print("bare scan", static_cast<double>(rows), scans);
  print("load", static_cast<double>(rows), loads);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%ld MiB at most, %lld events (%lld)\n",
              usage.ru_maxrss / 1024,
              static_cast<long long>(rows),
              static_cast<long long>(sum % 7));
  return 0;
}

// Costs of events that imported traces have, too. Each has an error of a half; part of it is
// shared.
engine::correction::CostSet someCosts() {
  engine::correction::CostSet costs;
  const auto add = [&](const char* probe, const char* api, double ns) {
    costs.rows.push_back({probe, api, std::nullopt, {ns / 2, 0, ns / 2}, ns / 2, "micro-loop"});
  };
  add("annotation", "scope", 50);
  add("torch", "operator", 300);
  add("torch", "module", 2000);
  add("torch", "scope", 1000);
  add("python", "call", 100);
  add("cuda", "call", 200);
  add("cuda", "launch", 400);
  add("plugin", "scope", 100);
  add("plugin", "call", 100);
  return costs;
}

int correctTrace(const char* path) {
  const auto trace = store::openTrace(path);
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    return 1;
  }
  const engine::correction::CostSet costs = someCosts();
  engine::breakdown::Options options{.by = {.operation = true, .category = true}, .parallel = 1};
  options.measured = &costs;
  std::int64_t rows = 0;
  for (const char* table : {"slice", "kernel", "copy"})
    rows += *trace->queryInteger(std::string("SELECT count(*) FROM ") + table);
  for (const bool corrects : {false, true}) {
    options.correct = corrects;
    std::vector<double> seconds;
    double taken = 0;
    for (int round = 0; round < kRounds; ++round)
      seconds.push_back(secondsOf([&] {
        const auto found = engine::breakdown::breakDown(*trace, options);
        taken = found ? static_cast<double>(found->rawTotalNs - found->totalNs) /
                            static_cast<double>(found->rawTotalNs)
                      : -1;
      }));
    print(corrects ? "corrected" : "as recorded", static_cast<double>(rows), seconds);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "  %ld MiB at most so far, %.1f %% taken out\n", usage.ru_maxrss / 1024, 100 * taken);
  }
  const auto correction = engine::correction::readCorrection(*trace, &costs);
  if (correction && *correction)
    std::printf("%zu causes of error\n", (*correction)->causes());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view verb = count > 2 ? words[1] : "";
  if (verb == "sweep" && count == 4)
    return sweepEvents(std::strtoul(words[2], nullptr, 10), std::strtoul(words[3], nullptr, 10));
  if (verb == "load")
    return loadTrace(words[2]);
  if (verb == "correct")
    return correctTrace(words[2]);
  std::fputs("usage: breakdown sweep EVENTS CATEGORIES | load TRACE | correct TRACE\n", stderr);
  return 2;
}
