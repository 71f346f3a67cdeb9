#include "analysis/engine/iterations/periodic.h"

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::iterations {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Each letter is a name. A pause of 100 is before each `pauseBefore`, and one of 1 before others.
std::optional<Period> periodOf(const std::string& text, char pauseBefore) {
  std::vector<std::int64_t> names(text.begin(), text.end());
  std::vector<std::int64_t> pauses;
  for (const char each : text)
    pauses.push_back(each == pauseBefore ? 100 : 1);
  return iterations::periodOf(names, pauses);
}

TEST(Period, BeginsAfterTheLongestPause) {
  const auto found = periodOf("xyabcdabcdabcdabcdab", 'b');
  ASSERT_TRUE(found);
  EXPECT_EQ(found->length, 4);
  EXPECT_THAT(found->begins, ElementsAre(3, 7, 11, 15, 19));
}

TEST(Period, OfALoopWithEqualLayers) {
  const auto found = periodOf("fabababcabababgfabababcabababgfabababcabababgfabababcabababg", 'f');
  ASSERT_TRUE(found);
  EXPECT_EQ(found->length, 15);
  EXPECT_THAT(found->begins, ElementsAre(0, 15, 30, 45));
}

TEST(Period, ToleratesAnExtraName) {
  const auto found =
      periodOf("abcdefghijabcdefghijabcdefghijabcdeXfghijabcdefghijabcdefghijabcdefghij", 'a');
  ASSERT_TRUE(found);
  EXPECT_EQ(found->length, 10);
  EXPECT_THAT(found->begins, ElementsAre(0, 10, 20, 30, 41, 51, 61));
}

TEST(Period, NeedsThreeRepetitions) {
  EXPECT_FALSE(periodOf("abcdabcdabcd", 'a'));
  EXPECT_TRUE(periodOf("abcdabcdabcda", 'a'));
}

TEST(Period, ARandomSeriesHasNone) {
  std::mt19937 random(5);
  std::string text;
  for (int i = 0; i < 500; ++i)
    text += static_cast<char>('a' + random() % 20);
  EXPECT_FALSE(periodOf(text, 'a'));
  EXPECT_FALSE(periodOf("", 'a'));
}

class Periodic : public ::testing::Test {
 protected:
  Periodic() {
    host_ = trace_.add(model::Host{.name = "h"});
    process_ = trace_.add(model::Process{.hostId = host_, .pid = 7});
    thread_ = trace_.add(model::Thread{.processId = process_, .tid = 7});
  }
  model::SliceId call(std::string_view name, std::int64_t startNs) {
    return trace_.slice(thread_, model::SliceKind::Api, name, {startNs, startNs + 5});
  }
  std::vector<Iteration> found() {
    trace_.finish();
    return must(readPeriodic(must(store::openTrace(path_))));
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  model::HostId host_;
  model::ProcessId process_;
  model::ThreadId thread_;
};

TEST_F(Periodic, KernelsCountByTheirLaunches) {
  const auto device = trace_.add(model::Device{.hostId = host_});
  const auto stream = trace_.add(model::Stream{.processId = process_, .deviceId = device});
  for (std::int64_t i = 0; i < 5; ++i)
    for (const auto& [name, offset] : {std::pair("gemm", 0), std::pair("add", 10)})
      trace_.add(model::Kernel{.work = {.streamId = stream,
                                        .nameId = trace_.name(name),
                                        .startNs = 1000 * i + 500,
                                        .durNs = 5,
                                        .launchSliceId = call("launch", 1000 * i + offset)}});
  const std::vector<Iteration> all = found();
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_EQ(all[1].number, 1);
  EXPECT_EQ(all[1].startNs, 1000);
  EXPECT_EQ(all[1].durNs, 1000);
  EXPECT_EQ(all[1].threadId, thread_.value);
  EXPECT_EQ(all[1].processId, process_.value);
}

TEST_F(Periodic, WithoutKernelsTheThreadsOwnSlicesCount) {
  for (std::int64_t i = 0; i < 5; ++i) {
    call("forward", 1000 * i);
    call("backward", 1000 * i + 100);
  }
  EXPECT_THAT(found(), SizeIs(4));
}

TEST_F(Periodic, ATraceThatDoesNotRepeatHasNone) {
  call("load", 0);
  call("run", 100);
  EXPECT_THAT(found(), IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::iterations
