// Makes small traces for tests: the writer with shorter calls, and a whole training run with known
// numbers. Failures end the test program. One thread.
#pragma once

#include "analysis/store/trace_writer.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::test {

// Returns the value, or ends the program with the error's message.
template <typename T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "unexpected error: %s\n", result.error().message.c_str());
    std::abort();
  }
  if constexpr (!std::is_same_v<T, void>)
    return *std::move(result);
}

class TraceBuilder {
 public:
  explicit TraceBuilder(const std::string& path);

  store::TraceWriter& writer() { return *writer_; }
  model::StringId name(std::string_view text) { return must(writer_->intern(text)); }
  void meta(std::string_view key, std::string_view value) {
    must(writer_->add(model::Meta{key, value}));
  }

  // A slice from beginNs to endNs; its depth follows from the given parent.
  model::SliceId slice(model::ThreadId thread,
                       model::SliceKind kind,
                       std::string_view name,
                       std::pair<std::int64_t, std::int64_t> time,
                       model::SliceId parent = {},
                       std::string_view category = "torch");
  template <typename Row>
  auto add(const Row& row) {
    return must(writer_->add(row));
  }

  // A wait of one thread that another one ended.
  void handoff(model::ThreadId waker,
               model::ThreadId wakee,
               std::pair<std::int64_t, std::int64_t> time);

  // Commits; with `finalised` also finalises, as a recorder does.
  void finish(bool finalised = true);

 private:
  std::optional<store::TraceWriter> writer_;
  std::vector<std::pair<model::SliceId, std::int64_t>> depths_;
};

// A rank of a data-parallel run, as the recorder would write it. In every iteration (100 ms from
// `beginNs` on, longer by `extraNs` in those of `slow`, before the optimiser):
//
//   ms        0    10        40         60  70 72   80 90 92  98 100
//   main      |data|forward-–|backward------------–|      |opt |
//   gloo                                |ar1|  |ar2-----|
//
// Each all-reduce sends 1000 bytes to every other rank and receives as many. The loss is 2 ·
// 0.97^number. If `scopeCostNs` is not 0, the trace states that as the cost of recording each of
// these parts, all of it inside, with a standard error. Iterations of `masked` had `torch` off.
struct TrainingRun {
  std::int64_t rank = 0;
  std::int64_t worldSize = 2;
  int iterations = 30;
  std::string job = "job-1";
  std::string bootId = "boot-a";
  std::string hostName = "host-a";
  std::int64_t epochNs = 1'700'000'000'000'000'000;  // realtime − monotonic of the recording
  std::int64_t beginNs = 1'700'000'100'000'000'000;  // job time
  std::vector<int> slow;
  std::int64_t extraNs = 0;
  double scopeCostNs = 0;
  double scopeErrorNs = 0;
  std::string costMethod = "micro-loop";
  std::string sources;  // of the probes, as meta has them
  std::vector<int> masked;
  bool losses = true;
  bool finalised = true;
};

inline constexpr std::int64_t kMs = 1'000'000;

void writeTrainingRun(const std::string& path, const TrainingRun& run);

}  // namespace sonde::test
