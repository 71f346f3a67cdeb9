#include "analysis/store/trace_part.h"

#include "analysis/store/trace_file.h"
#include "tests/store/expect_result.h"
#include "tests/store/finished_trace.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace sonde::store {
namespace {

namespace fs = std::filesystem;

using TracePartTest = FinishedTrace;

TEST_F(TracePartTest, GoesUnlessItIsPublished) {
  const fs::path output = file("out.sonde");
  {
    ASSERT_GOOD_ASSIGN(const TracePart part, TracePart::claim(output, false, {}));
    EXPECT_EQ(part.path(), output.string() + ".part");
    ASSERT_GOOD(createTrace(part.path(), WriteMode::NoLog));
    std::ofstream(part.path().string() + "-journal") << "a log";
  }
  EXPECT_FALSE(fs::exists(output.string() + ".part"));
  EXPECT_FALSE(fs::exists(output.string() + ".part-journal"));
  ASSERT_GOOD_ASSIGN(TracePart part, TracePart::claim(output, false, {}));
  ASSERT_GOOD(createTrace(part.path(), WriteMode::NoLog));
  ASSERT_GOOD(std::move(part).publish());
  ASSERT_GOOD(openTrace(output));
}

TEST_F(TracePartTest, IsNotTakenFromAProcessThatWritesIt) {
  const fs::path output = file("out.sonde");
  ASSERT_GOOD_ASSIGN(const TracePart part, TracePart::claim(output, false, {}));
  ASSERT_GOOD(createTrace(part.path(), WriteMode::NoLog));
  for (const bool replace : {false, true}) {
    const auto second = TracePart::claim(output, replace, {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(second.error().message.find("is being written by another process"),
              std::string::npos);
  }
  ASSERT_GOOD(openTrace(part.path()));
}

TEST_F(TracePartTest, WhatAKilledProcessLeftIsReplacedWhenThatIsAllowed) {
  const fs::path output = file("out.sonde");
  const pid_t child = fork();
  if (child == 0) {
    const auto part = TracePart::claim(output, false, {});
    _exit(part && createTrace(part->path(), WriteMode::NoLog) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const auto refused = TracePart::claim(output, false, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("is in the way: remove it, or give -f"),
            std::string::npos);
  EXPECT_TRUE(fs::exists(output.string() + ".part"));
  ASSERT_GOOD_ASSIGN(const TracePart part, TracePart::claim(output, true, {}));
  EXPECT_EQ(fs::file_size(part.path()), 0U);
}

// Each thread claims it again and again, and releases it after it has found it in place.
TEST_F(TracePartTest, OfManyThatReplaceItOneHasIt) {
  const fs::path output = file("out.sonde");
  std::atomic<int> holders = 0;
  std::atomic<int> lost = 0;
  std::mutex refusals;
  std::set<std::string> reasons;
  const auto take = [&] {
    constexpr int kRounds = 10000;
    for (int round = 0; round < kRounds; ++round) {
      const auto part = TracePart::claim(output, true, {});
      if (!part) {
        const std::lock_guard guard(refusals);
        reasons.insert(part.error().message);
        continue;
      }
      const bool alone = ++holders == 1;
      std::this_thread::yield();
      if (!alone || !fs::exists(part->path()) || !isBeingWritten(part->path()))
        ++lost;
      --holders;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(take);
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(lost, 0);
  for (const std::string& reason : reasons)
    EXPECT_NE(reason.find("another process"), std::string::npos) << reason;
  EXPECT_FALSE(fs::exists(output.string() + ".part"));
}

TEST_F(TracePartTest, LetsBeWhatTookItsPlace) {
  const fs::path output = file("out.sonde");
  {
    ASSERT_GOOD_ASSIGN(const TracePart part, TracePart::claim(output, false, {}));
    fs::remove(part.path());
    std::ofstream(part.path()) << "another's";
  }
  EXPECT_TRUE(fs::exists(output.string() + ".part"));
}

TEST_F(TracePartTest, NamesWhatCannotBeReplaced) {
  const fs::path output = file("out.sonde");
  const fs::path part = output.string() + ".part";
  const auto refused = [&] {
    const auto claimed = TracePart::claim(output, true, {});
    EXPECT_FALSE(claimed);
    EXPECT_TRUE(claimed ||
                claimed.error().message.find("is in the way: remove it") != std::string::npos);
  };
  fs::create_directory(part);
  refused();
  EXPECT_TRUE(fs::is_directory(part));
  fs::remove(part);
  fs::create_symlink(file("nothing"), part);
  refused();
  EXPECT_TRUE(fs::is_symlink(part));
}

TEST_F(TracePartTest, IsNotMadeInThePlaceOfAnInput) {
  const fs::path input = finished("in.sonde");
  fs::create_symlink(input, file("link"));
  fs::create_hard_link(input, file("other.part"));
  for (const fs::path& output : {input, file("link"), input.parent_path() / "." / "in.sonde"}) {
    const auto refused = TracePart::claim(output, true, {input});
    ASSERT_FALSE(refused) << output;
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(refused.error().message.find("is also an input"), std::string::npos);
  }
  EXPECT_FALSE(TracePart::claim(input, true, {file("link")}));
  EXPECT_FALSE(TracePart::claim(file("other"), true, {file("other.part")}));
  ASSERT_GOOD(openTrace(input));
  EXPECT_TRUE(fs::exists(file("other.part")));
}

}  // namespace
}  // namespace sonde::store
