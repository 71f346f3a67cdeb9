// A trace with devices that a test writes row by row, and reads back. One thread.
#pragma once

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace sonde::test {

class DeviceTrace : public ::testing::Test {
 protected:
  using Span = std::pair<std::int64_t, std::int64_t>;

  struct Rank {
    model::ProcessId process;
    model::ThreadId thread;
    model::DeviceId device;
  };

  // A process with a GPU of its own.
  Rank rank(std::int64_t number) {
    if (!host_)
      host_ = trace_->add(model::Host{.name = "h", .bootId = "boot-a"});
    Rank rank;
    rank.process =
        trace_->add(model::Process{.hostId = host_, .pid = 100 + number, .rank = number});
    rank.thread = trace_->add(model::Thread{.processId = rank.process, .tid = 100 + number});
    rank.device = trace_->add(model::Device{.hostId = host_, .kind = "gpu", .ordinal = number});
    return rank;
  }
  model::StreamId stream(const Rank& rank, std::int64_t number) {
    return trace_->add(
        model::Stream{.processId = rank.process, .deviceId = rank.device, .number = number});
  }
  void step(const Rank& rank, std::int64_t number, Span time) {
    const auto slice = trace_->slice(rank.thread, model::SliceKind::Iteration, "step", time);
    trace_->add(model::Iteration{.processId = rank.process,
                                 .number = number,
                                 .startNs = time.first,
                                 .durNs = time.second - time.first,
                                 .sliceId = slice});
  }
  model::SliceId call(const Rank& rank, std::string_view name, Span time, model::SliceId in = {}) {
    return trace_->slice(rank.thread, model::SliceKind::Api, name, time, in);
  }
  model::DeviceWork work(model::StreamId stream,
                         std::string_view name,
                         Span time,
                         model::SliceId launch) {
    model::DeviceWork work;
    work.streamId = stream;
    work.nameId = trace_->name(name);
    work.startNs = time.first;
    work.durNs = time.second - time.first;
    work.launchSliceId = launch;
    return work;
  }
  model::KernelId kernel(model::StreamId stream,
                         std::string_view name,
                         Span time,
                         model::SliceId launch = {},
                         model::SliceId scope = {}) {
    model::Kernel row;
    row.work = work(stream, name, time, launch);
    row.work.scopeId = scope;
    return trace_->add(row);
  }
  void copy(model::StreamId stream,
            std::string_view name,
            Span time,
            std::int64_t bytes,
            model::SliceId launch = {},
            model::CopyKind kind = model::CopyKind::HostToDevice) {
    model::Copy row;
    row.work = work(stream, name, time, launch);
    row.work.bytes = bytes;
    row.kind = kind;
    row.pinned = true;
    trace_->add(row);
  }
  std::string path() const { return folder_ / "t.sonde"; }
  store::Database open() {
    trace_->finish();
    return must(store::openTrace(path()));
  }

  TemporaryFolder folder_;
  std::optional<TraceBuilder> trace_{std::in_place, folder_ / "t.sonde"};
  model::HostId host_;
};

}  // namespace sonde::test
