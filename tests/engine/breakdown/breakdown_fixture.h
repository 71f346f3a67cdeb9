// A process with a thread and a device, and its breakdown. One thread.
#pragma once

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::engine::breakdown {

inline constexpr Dimensions kByOperation{.operation = true, .category = true};

// From 0 to 1000.
class BreakdownTest : public ::testing::Test {
 protected:
  using SliceKind = model::SliceKind;
  using Time = std::pair<std::int64_t, std::int64_t>;
  // "train: compute + framework" with its nanoseconds.
  using Parts = std::map<std::string, std::int64_t>;

  void SetUp() override {
    const auto host = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = trace_.add(
        model::Process{.hostId = host, .pid = 7, .rank = 3, .startNs = 0, .endNs = 1000});
    main_ = trace_.add(model::Thread{.processId = process_, .tid = 7});
    other_ = trace_.add(model::Thread{.processId = process_, .tid = 8});
    const auto device = trace_.add(model::Device{.hostId = host, .kind = "gpu"});
    stream_ = trace_.add(model::Stream{.processId = process_, .deviceId = device});
  }

  struct Slice {
    SliceKind kind;
    std::string_view name;
    Time time;
    std::string_view category = "annotation";
    model::SliceId scope = {};
    std::int64_t depth = 0;
  };
  model::SliceId add(model::ThreadId thread, const Slice& slice) {
    return trace_.add(
        model::Slice{.threadId = thread,
                     .kind = slice.kind,
                     .category = slice.category,
                     .nameId = trace_.name(slice.name),
                     .startNs = slice.time.first,
                     .durNs = slice.time.second - slice.time.first,
                     .depth = slice.depth,
                     .scopeId = slice.scope,
                     .scopeHow = slice.scope ? model::ScopeHow::Own : model::ScopeHow::None});
  }
  model::SliceId operation(std::string_view name, Time time, model::SliceId scope = {}) {
    return add(main_, {SliceKind::Operation, name, time, "annotation", scope});
  }
  void kernel(std::string_view name, Time time, model::SliceId scope) {
    model::Kernel row;
    row.work.streamId = stream_;
    row.work.nameId = trace_.name(name);
    row.work.startNs = time.first;
    row.work.durNs = time.second - time.first;
    row.work.scopeId = scope;
    trace_.add(row);
  }

  Breakdown result(const Options& options) {
    if (!std::exchange(finished_, true))
      trace_.finish(false);
    auto trace = test::must(store::openTrace(path_));
    return test::must(breakDown(trace, options));
  }
  Parts parts(const Options& options) {
    const Breakdown found = result(options);
    Parts parts;
    std::int64_t total = 0;
    for (const Row& row : found.rows) {
      const std::string key = fmt::format(
          "{}: {}", fmt::join(row.group.operations, "&"), fmt::join(row.group.categories, "+"));
      EXPECT_EQ(parts.count(key), 0U) << key;
      parts[key] = row.ns;
      total += row.ns;
    }
    EXPECT_EQ(total, found.totalNs);
    return parts;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "a.sonde";
  test::TraceBuilder trace_{path_};
  bool finished_ = false;
  model::ProcessId process_;
  model::ThreadId main_;
  model::ThreadId other_;
  model::StreamId stream_;
};

}  // namespace sonde::engine::breakdown
