#include "collector/core/capture.h"

#include "collector/core/attach.h"
#include "collector/core/emit.h"
#include "collector/wire/iteration_keys.h"
#include "collector/wire/recording_state.h"
#include "tests/core/spool_dump.h"
#include "tests/support/in_child.h"
#include "tests/support/spool_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sonde::core {
namespace {

using testing::ElementsAre;
using wire::Probe;
using wire::SliceKind;
using Kind = wire::CaptureRule::Kind;

// A thread that runs commands one after the other.
class Other {
 public:
  Other() : thread_([this] { work(); }) {}
  ~Other() { leave(); }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  void does(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    task_ = std::move(task);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !task_; });
  }
  // The thread ends with its scopes open.
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      isLeaving_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable())
      thread_.join();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return task_ || isLeaving_; });
      if (!task_)
        return;
      task_();
      task_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool isLeaving_ = false;
  std::thread thread_;
};

std::uint32_t iteration(const char* name, int number = -1) {
  const std::uint32_t token = beginScope(SliceKind::Iteration, intern(name), Probe::Annotation);
  if (number >= 0)
    emitArgInt({token}, intern(SONDE_ITERATION_NUMBER), number);
  return token;
}

std::uint32_t operation(const char* name) {
  return beginScope(SliceKind::Operation, intern(name), Probe::Annotation);
}

void mark(const char* name) {
  emitMark(intern(name), Probe::Annotation);
}

// Does what `sonde ctl` does to this process.
void become(wire::RecordingState state) {
  wire::setGate(
      gSpool.control->recording, gSpool.control->recordings, wire::gateMaskOf(state), ticks);
}

class Capture : public testing::Test {
 protected:
  wire::CaptureRule& rule() { return rule_; }

  // The images' files, with those of forked children last.
  std::vector<SpoolDump> recordAll(const std::function<void()>& body) {
    const test::SpoolFolder folder(kRoom);
    folder.setCapture(rule_);
    EXPECT_TRUE(test::inChild([&] {
      EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
      body();
    }));
    std::vector<SpoolDump> dumps;
    for (const auto& file : folder.files())
      dumps.push_back(dumpSpool(file));
    std::sort(dumps.begin(), dumps.end(), [](const SpoolDump& a, const SpoolDump& b) {
      return a.identity.forked < b.identity.forked;
    });
    return dumps;
  }
  SpoolDump recordOne(const std::function<void()>& body) {
    auto dumps = recordAll(body);
    EXPECT_EQ(dumps.size(), 1U);
    return dumps.empty() ? SpoolDump{} : dumps.front();
  }

  static std::vector<std::string> marks(const SpoolDump& dump) {
    std::vector<std::string> names;
    for (const DumpedRecord& record : dump.records)
      if (record.header.kind == wire::RecordKind::Mark)
        names.push_back(dump.strings.at(record.header.subject));
    return names;
  }
  // "NAME in full" or "NAME in outline", in the order of their ends.
  static std::vector<std::string> iterations(const SpoolDump& dump) {
    std::map<std::uint64_t, std::string> open;
    std::vector<std::pair<std::uint64_t, std::string>> ended;
    for (const DumpedRecord& record : dump.records) {
      const std::uint64_t thread = std::uint64_t{record.thread} << 32;
      if (record.header.kind == wire::RecordKind::ScopeBegin &&
          record.header.detail == static_cast<std::uint8_t>(SliceKind::Iteration))
        open[thread | record.as<wire::ScopeBegin>().token] = dump.strings.at(record.header.subject);
      const auto begun = open.find(thread | record.header.subject);
      if (record.header.kind != wire::RecordKind::ScopeEnd || begun == open.end())
        continue;
      const bool outline = (record.header.detail & wire::ScopeEnd::kOutline) != 0;
      ended.emplace_back(record.as<wire::ScopeEnd>().ticks,
                         begun->second + (outline ? " in outline" : " in full"));
    }
    std::sort(ended.begin(), ended.end());
    std::vector<std::string> lines;
    lines.reserve(ended.size());
    for (auto& [ticks, line] : ended)
      lines.push_back(std::move(line));
    return lines;
  }

 private:
  wire::CaptureRule rule_{};
};

class CaptureIterations : public Capture {
 protected:
  CaptureIterations() { rule().kind = Kind::Iterations; }
};

TEST_F(CaptureIterations, OfThoseInsideEachOtherTheOutermostDecides) {
  const SpoolDump dump = recordOne([] {
    const std::uint32_t outer = iteration("outer");
    const std::uint32_t inner = iteration("inner");
    mark("inside of both");
    endScope(inner);
    mark("after the inner one");
    endScope(outer);
    mark("after both");
  });
  EXPECT_THAT(marks(dump), ElementsAre("inside of both", "after the inner one"));
  EXPECT_THAT(iterations(dump), ElementsAre("inner in full", "outer in full"));
}

TEST_F(CaptureIterations, OfAnotherThreadDecideNothingWhileOneIsOpen) {
  const SpoolDump dump = recordOne([] {
    Other other;
    const std::uint32_t own = iteration("own");
    std::uint32_t others = 0;
    other.does([&] { others = iteration("other's"); });
    mark("inside of both");
    other.does([&] { endScope(others); });
    mark("after the other's");
    endScope(own);
    mark("after both");
  });
  EXPECT_THAT(marks(dump), ElementsAre("inside of both", "after the other's"));
  EXPECT_THAT(iterations(dump), ElementsAre("other's in full", "own in full"));
}

TEST_F(CaptureIterations, OfAnotherThreadDecideWhenNoneIsOpen) {
  rule().first = rule().last = 1;
  const SpoolDump dump = recordOne([] {
    Other other;
    endScope(iteration("0"));
    other.does([] {
      const std::uint32_t token = iteration("1");
      mark("in 1");
      endScope(token);
    });
    endScope(iteration("2"));
  });
  EXPECT_THAT(marks(dump), ElementsAre("in 1"));
  EXPECT_THAT(iterations(dump), ElementsAre("0 in outline", "1 in full", "2 in outline"));
}

TEST_F(CaptureIterations, AreInFullOnlyWhenAllOfThemIs) {
  rule().kind = Kind::All;
  rule().every.store(2);
  const SpoolDump dump = recordOne([] {
    Other other;
    std::uint32_t lasting = 0;
    const std::uint32_t first = iteration("0", 0);
    other.does([&] { lasting = iteration("long"); });
    endScope(first);
    endScope(iteration("1", 1));
    const std::uint32_t last = iteration("2", 2);
    other.does([&] { endScope(lasting); });
    endScope(last);
  });
  EXPECT_THAT(iterations(dump),
              ElementsAre("0 in full", "1 in outline", "long in outline", "2 in full"));
}

TEST_F(CaptureIterations, ANumberThatTheProgramGivesDecides) {
  rule().first = rule().last = 105;
  const SpoolDump dump = recordOne([] {
    const std::uint32_t token = iteration("a", 105);
    mark("in a");
    endScope(token);
    endScope(iteration("b", 104));
    endScope(iteration("c", 106));
  });
  EXPECT_THAT(marks(dump), ElementsAre("in a"));
  EXPECT_THAT(iterations(dump), ElementsAre("a in full", "b in outline", "c in outline"));
}

TEST_F(CaptureIterations, OneThatWasNotCompletedLeavesItsNumberToTheNext) {
  rule().first = rule().last = 1;
  const SpoolDump dump = recordOne([] {
    endScope(iteration("0"));
    const std::uint32_t token = iteration("1, not completed");
    emitArgInt({token}, intern(SONDE_ITERATION_COMPLETE), 0);
    endScope(token);
    endScope(iteration("1"));
    endScope(iteration("2"));
  });
  EXPECT_THAT(iterations(dump),
              ElementsAre("0 in outline", "1, not completed in full", "1 in full", "2 in outline"));
}

TEST_F(CaptureIterations, AThreadThatEndsInsideOneLeavesTheDecisionToOthers) {
  const SpoolDump dump = recordOne([] {
    Other other;
    other.does([] { iteration("never ends"); });
    other.leave();
    const std::uint32_t token = iteration("1");
    mark("in 1");
    endScope(token);
  });
  EXPECT_THAT(marks(dump), ElementsAre());
  EXPECT_THAT(iterations(dump), ElementsAre("1 in outline"));
}

TEST_F(CaptureIterations, OfAChildCountFromZero) {
  const auto dumps = recordAll([] {
    endScope(iteration("0"));
    endScope(iteration("1"));
    const pid_t child = fork();
    if (child == 0) {
      const std::uint32_t token = iteration("child's");
      mark("in the child");
      endScope(token);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  });
  ASSERT_EQ(dumps.size(), 2U);
  EXPECT_THAT(marks(dumps[1]), ElementsAre("in the child"));
  EXPECT_THAT(iterations(dumps[1]), ElementsAre("child's in full"));
}

class CaptureRange : public Capture {
 protected:
  CaptureRange() {
    rule().kind = Kind::Range;
    std::strcpy(rule().range, "special");
  }
};

TEST_F(CaptureRange, IsOpenWhileOneOfThatNameIs) {
  const SpoolDump dump = recordOne([] {
    mark("before");
    const std::uint32_t outer = operation("special");
    const std::uint32_t inner = operation("special");
    endScope(inner);
    mark("inside");
    endScope(outer);
    mark("after");
  });
  EXPECT_THAT(marks(dump), ElementsAre("inside"));
}

TEST_F(CaptureRange, IsClosedByAThreadThatEndsInsideIt) {
  const SpoolDump dump = recordOne([] {
    Other other;
    other.does([] {
      operation("special");
      operation("special");
    });
    const std::uint32_t own = operation("special");
    other.leave();
    mark("inside of its own");
    endScope(own);
    mark("after");
  });
  EXPECT_THAT(marks(dump), ElementsAre("inside of its own"));
}

TEST_F(CaptureRange, IsRecordedEverySoManyTimes) {
  rule().every.store(2);
  const SpoolDump dump = recordOne([] {
    for (const char* name : {"0", "1", "2", "3"}) {
      const std::uint32_t token = operation("special");
      mark(name);
      endScope(token);
    }
  });
  EXPECT_THAT(marks(dump), ElementsAre("0", "2"));
}

TEST_F(Capture, WhilePausedIsInOutlineAndKnowsWhatIsOpen) {
  const SpoolDump dump = recordOne([] {
    const std::uint32_t outer = operation("outer");
    const std::uint32_t first = iteration("interrupted");
    mark("before");
    become(wire::RecordingState::Paused);
    mark("meanwhile");
    const std::uint32_t unseen = operation("unseen");
    endScope(unseen);
    endScope(first);
    endScope(iteration("meanwhile"));
    const std::uint32_t inner = operation("inner");
    become(wire::RecordingState::On);
    const std::uint32_t last = iteration("last");
    mark("after");
    endScope(last);
    endScope(inner);
    endScope(outer);
  });
  EXPECT_THAT(marks(dump), ElementsAre("before", "after"));
  EXPECT_THAT(iterations(dump),
              ElementsAre("interrupted in outline", "meanwhile in outline", "last in full"));
  const auto story = dump.story();
  EXPECT_EQ(std::count(story.begin(), story.end(), "begin unseen"), 0);
  EXPECT_EQ(std::count(story.begin(), story.end(), "end outer"), 1);
  EXPECT_THAT(dump.opened, ElementsAre("outer", "inner")) << "in the slot that begins after it";
}

// A device's work at that time may belong to the operation, although its thread recorded nothing.
TEST_F(Capture, AnOperationIsKnownThatSpansATimeOfRecording) {
  const SpoolDump dump = recordOne([] {
    become(wire::RecordingState::Paused);
    const std::uint32_t outer = operation("outer");
    const std::uint32_t spanning = operation("spanning");
    become(wire::RecordingState::On);
    become(wire::RecordingState::Paused);
    const std::uint32_t unseen = operation("unseen");
    endScope(spanning);
    endScope(unseen);
    endScope(operation("later"));
    endScope(outer);
  });
  EXPECT_THAT(dump.opened, ElementsAre("outer", "spanning"));
  const auto isEnd = [](const DumpedRecord& record) {
    return record.header.kind == wire::RecordKind::ScopeEnd;
  };
  EXPECT_EQ(std::count_if(dump.records.begin(), dump.records.end(), isEnd), 2)
      << "of these, and of no other";
}

TEST_F(Capture, AnIterationThatWasPausedInBetweenIsInOutline) {
  const SpoolDump dump = recordOne([] {
    const std::uint32_t token = iteration("interrupted");
    become(wire::RecordingState::Paused);
    become(wire::RecordingState::On);
    endScope(token);
  });
  EXPECT_THAT(iterations(dump), ElementsAre("interrupted in outline"));
}

}  // namespace
}  // namespace sonde::core
