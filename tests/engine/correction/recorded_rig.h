// A handmade trace in which an annotation costs its thread 100 ns afterwards, for tests of which
// events count as waits, and for whom.
#pragma once

#include "analysis/engine/correction/corrected_times.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace sonde::engine::correction {

using model::SliceKind;
using test::must;
using Time = std::pair<std::int64_t, std::int64_t>;

class RecordedRig : public ::testing::Test {
 protected:
  RecordedRig() {
    host_ = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = process(7, 0);
    main_ = thread(process_, 7);
    other_ = thread(process_, 8);
    trace_.add(model::Overhead{.probe = "annotation",
                               .api = "scope",
                               .meanNs = 100,
                               .errorNs = 0,
                               .method = "micro-loop",
                               .beforeNs = 0,
                               .insideNs = 0});
    // The threads exist from the start, and their waits are known.
    for (const model::ThreadId each : {main_, other_})
      trace_.slice(each, SliceKind::Wait, "begin", {0, 1}, {}, "sync");
  }

  model::ProcessId process(std::int64_t pid, std::int64_t rank) {
    return trace_.add(
        model::Process{.hostId = host_, .pid = pid, .rank = rank, .command = "train"});
  }
  model::ThreadId thread(model::ProcessId of, std::int64_t tid) {
    return trace_.add(model::Thread{.processId = of, .tid = tid});
  }
  // An iteration of the process's driver, from 90 on.
  void iterations(std::int64_t ns) {
    const auto slice = trace_.slice(main_, SliceKind::Iteration, "i", {90, 90 + ns});
    trace_.add(model::Iteration{.processId = process_,
                                .number = 0,
                                .startNs = 90,
                                .durNs = ns,
                                .probeMask = 1,
                                .sliceId = slice});
  }
  // Its thread owes 100 ns from `end` on.
  void annotation(model::ThreadId on, Time time) {
    trace_.slice(on, SliceKind::Operation, "work", time, {}, "annotation");
  }
  std::int64_t corrected(model::ThreadId of, std::int64_t ns) {
    return correction().times.ofThread(of.value, ns);
  }
  const Correction& correction() {
    if (!correction_) {
      trace_.finish();
      trace_file_.emplace(must(store::openTrace(path_)));
      correction_.emplace(*must(readCorrection(*trace_file_)));
    }
    return *correction_;
  }

  static constexpr std::int64_t sentNs_ = 900;

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  std::optional<store::Database> trace_file_;
  std::optional<Correction> correction_;
  model::HostId host_;
  model::ProcessId process_;
  model::ThreadId main_;
  model::ThreadId other_;
};

}  // namespace sonde::engine::correction
