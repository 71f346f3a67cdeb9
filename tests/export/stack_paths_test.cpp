#include "analysis/export/stacks/stack_paths.h"

#include "tests/export/export_rig.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde::exports {
namespace {

using test::must;

class StackPaths : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto host = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = trace_.add(model::Process{.hostId = host, .pid = 9, .command = "prog; x"});
    ranked_ = trace_.add(model::Process{.hostId = host, .pid = 8, .rank = 2});
    first_ = trace_.add(model::Thread{.processId = process_, .tid = 9, .name = "worker"});
    second_ = trace_.add(model::Thread{.processId = ranked_, .tid = 8});
    outer_ = stack({},
                   model::Frame{.kind = model::FrameKind::Python,
                                .nameId = trace_.name("Model.step"),
                                .pathId = trace_.name("/home/me/train.py"),
                                .line = 7});
    inner_ = stack(outer_, model::Frame{.nameId = trace_.name("operator;\n()")});
  }
  model::StackId stack(model::StackId parent, const model::Frame& frame) {
    return trace_.add(model::Stack{.parentId = parent, .frameId = trace_.add(frame)});
  }
  void sample(model::ThreadId thread, model::StackId stack, std::int64_t ns, bool cut = false) {
    const auto process = thread == first_ ? process_ : ranked_;
    times_.push_back({process, thread, stack, cut, false, ns, 1});
  }
  std::string folded(bool byThread) {
    trace_.finish();
    return test::exported(path_, folder_ / "out", [&](const auto& trace, OutputFile& output) {
      return must(stackPaths(trace, times_, byThread)).write(output);
    });
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "a.sonde";
  test::TraceBuilder trace_{path_};
  std::vector<model::StackTime> times_;
  model::ProcessId process_;
  model::ProcessId ranked_;
  model::ThreadId first_;
  model::ThreadId second_;
  model::StackId outer_;
  model::StackId inner_;
};

TEST_F(StackPaths, BeginWithTheProcessAndNameFunctions) {
  sample(first_, inner_, 30);
  sample(first_, inner_, 12);
  sample(first_, outer_, 5);
  sample(second_, inner_, 7);
  EXPECT_EQ(folded(false),
            "prog: x 9;Model.step (train.py:7) 5\n"
            "prog: x 9;Model.step (train.py:7);operator: () 42\n"
            "rank 2;Model.step (train.py:7);operator: () 7\n");
}

TEST_F(StackPaths, HaveThreadsApartWhereThatIsAskedFor) {
  sample(first_, outer_, 5);
  sample(second_, outer_, 7);
  EXPECT_EQ(folded(true),
            "prog: x 9;worker 9;Model.step (train.py:7) 5\n"
            "rank 2;thread 8;Model.step (train.py:7) 7\n");
}

TEST_F(StackPaths, SayWhatIsMissing) {
  sample(first_, inner_, 3, true);
  sample(first_, {}, 4);
  EXPECT_EQ(folded(false),
            "prog: x 9;[truncated];Model.step (train.py:7);operator: () 3\n"
            "prog: x 9;[unknown] 4\n");
}

}  // namespace
}  // namespace sonde::exports
