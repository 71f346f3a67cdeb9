// A trace of one process with two threads, and its call paths as text, one line a path. One thread.
#pragma once

#include "analysis/engine/callpaths/call_paths.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::callpaths {

using model::SliceKind;

// "a;b" of a node.
inline std::string pathOf(const CallTree& tree, CallNode node) {
  if (node == kRoot)
    return {};
  const std::string before = pathOf(tree, tree.parents[node]);
  return before.empty() ? tree.textOf(node) : before + ";" + tree.textOf(node);
}

// The node of a path; kRoot: there is none.
inline CallNode nodeOf(const CallTree& tree, const std::string& path) {
  for (CallNode node = 1; node < tree.size(); ++node)
    if (pathOf(tree, node) == path)
      return node;
  ADD_FAILURE() << "no path " << path;
  return kRoot;
}

// "a;b 40 = 10 own, 1 event", by first frame; then in the tree's order.
inline std::vector<std::string> linesOf(const CallTree& tree) {
  std::vector<std::string> lines;
  for (CallNode first = tree.firstChild[kRoot]; first < tree.endOfChildren(kRoot); ++first)
    for (CallNode node = 1; node < tree.size(); ++node) {
      CallNode top = node;
      while (tree.parents[top] != kRoot)
        top = tree.parents[top];
      if (top == first)
        lines.push_back(fmt::format("{} {} = {} own, {}",
                                    pathOf(tree, node),
                                    tree.totalNs[node],
                                    tree.selfNs[node],
                                    tree.counts[node]));
    }
  return lines;
}

class PathRig : public ::testing::Test {
 protected:
  PathRig() {
    host_ = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = trace_.add(
        model::Process{.hostId = host_, .pid = 1, .rank = 0, .startNs = 0, .endNs = 1000});
    main_ = trace_.add(model::Thread{.processId = process_, .tid = 1, .name = "main"});
    helper_ = trace_.add(model::Thread{.processId = process_, .tid = 2, .name = "helper"});
  }

  void finish(bool finalised = true) {
    if (!std::exchange(finished_, true))
      trace_.finish(finalised);
  }
  CallTree read(PathSource source, const PathFilter& filter) {
    finish();
    return test::must(callPaths(test::must(store::openTrace(path_)), source, filter));
  }
  std::vector<std::string> lines(PathSource source, const PathFilter& filter) {
    return linesOf(read(source, filter));
  }
  std::int64_t number(const std::string& sql) {
    return test::must(test::must(store::openTrace(path_)).queryInteger(sql));
  }

  void addIteration(std::int64_t number, std::pair<std::int64_t, std::int64_t> time) {
    trace_.add(model::Iteration{.processId = process_,
                                .number = number,
                                .startNs = time.first,
                                .durNs = time.second - time.first});
  }
  model::StreamId stream() {
    if (!stream_) {
      const auto device = trace_.add(model::Device{.hostId = host_, .kind = "gpu", .ordinal = 0});
      stream_ = trace_.add(model::Stream{.processId = process_, .deviceId = device, .number = 7});
    }
    return stream_;
  }
  model::DeviceWork work(std::string_view name,
                         std::pair<std::int64_t, std::int64_t> time,
                         model::SliceId launch) {
    return {.streamId = stream(),
            .nameId = trace_.name(name),
            .startNs = time.first,
            .durNs = time.second - time.first,
            .launchSliceId = launch};
  }
  void addKernel(std::string_view name,
                 std::pair<std::int64_t, std::int64_t> time,
                 model::SliceId launch) {
    trace_.add(model::Kernel{.work = work(name, time, launch)});
  }
  void addCopy(std::string_view name, std::pair<std::int64_t, std::int64_t> time) {
    trace_.add(model::Copy{.work = work(name, time, {})});
  }
  model::StackId stack(model::StackId caller, std::string_view file, std::string_view function) {
    model::Frame frame{.nameId = trace_.name(function)};
    if (!file.empty()) {
      frame.kind = model::FrameKind::Python;
      frame.pathId = trace_.name(file);
      frame.line = 7;
    }
    return trace_.add(model::Stack{.parentId = caller, .frameId = trace_.add(frame)});
  }
  void sample(model::ThreadId thread, std::int64_t ns, model::StackId stack, std::int64_t weight) {
    trace_.add(
        model::StackSample{.threadId = thread, .tsNs = ns, .stackId = stack, .weight = weight});
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "a.sonde";
  test::TraceBuilder trace_{path_};
  model::HostId host_;
  model::ProcessId process_;
  model::ThreadId main_;
  model::ThreadId helper_;
  model::StreamId stream_;
  bool finished_ = false;
};

}  // namespace sonde::engine::callpaths
