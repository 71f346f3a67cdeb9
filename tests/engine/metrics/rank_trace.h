// A trace of ranks that a test writes row by row, and reads back. One thread.
#pragma once

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace sonde::test {

class RankTrace : public ::testing::Test {
 protected:
  store::Database open() {
    trace_->finish();
    return must(store::openTrace(folder_ / "t.sonde"));
  }
  model::ThreadId process(std::optional<std::int64_t> rank, std::int64_t pid) {
    if (!host_)
      host_ = trace_->add(model::Host{{}, "h", {}, {}, {}, {}, {}});
    model::Process row;
    row.hostId = host_;
    row.rank = rank;
    row.pid = pid;
    model::Thread thread;
    thread.processId = process_ = trace_->add(row);
    thread.tid = pid;
    return trace_->add(thread);
  }
  model::SliceId iteration(model::ThreadId thread,
                           std::int64_t number,
                           std::int64_t begin,
                           std::optional<std::int64_t> end) {
    const auto slice = trace_->slice(
        thread, model::SliceKind::Iteration, "iteration", {begin, end.value_or(begin)});
    trace_->add(model::Iteration{.processId = process_,
                                 .number = number,
                                 .startNs = begin,
                                 .durNs = end ? model::OptionalInt(*end - begin) : std::nullopt,
                                 .sliceId = slice});
    return slice;
  }

  TemporaryFolder folder_;
  std::optional<TraceBuilder> trace_{std::in_place, folder_ / "t.sonde"};
  model::HostId host_;
  model::ProcessId process_;
};

}  // namespace sonde::test
