#include "analysis/finalise/scope_inheritance.h"

#include "analysis/store/schema.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_writer.h"
#include "tests/store/expect_result.h"
#include "tests/store/temporary_folder.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sonde::store {
namespace {

using model::SliceKind;

// Two processes with three threads each: threads 1–3 and 4–6.
class ScopeInheritance : public TemporaryFolder {
 protected:
  ScopeInheritance() : writer_(*TraceWriter::open(*createTrace(file("a.part")))) {
    EXPECT_TRUE(writer_.begin());
    EXPECT_TRUE(writer_.add(model::Host{{}, "host"}));
    for (std::int64_t number = 1; number <= 2; ++number) {
      model::Process process;
      process.hostId = model::HostId{1};
      EXPECT_TRUE(writer_.add(process));
      for (std::int64_t thread = 0; thread < 3; ++thread)
        EXPECT_TRUE(writer_.add(model::Thread{{}, model::ProcessId{number}, thread}));
    }
    EXPECT_TRUE(writer_.intern("name"));
  }

  model::SliceId add(std::int64_t thread,
                     SliceKind kind,
                     std::int64_t start,
                     model::OptionalInt duration,
                     model::SliceId scope = {}) {
    model::Slice slice{
        {}, model::ThreadId{thread}, kind, "torch", model::StringId{1}, start, duration};
    slice.parentId = slice.scopeId = scope;
    slice.scopeHow = scope ? model::ScopeHow::Own : model::ScopeHow::None;
    return *writer_.add(slice);
  }

  void inherit() {
    ASSERT_GOOD(writer_.commit());
    ASSERT_GOOD(writer_.database().exec(indexesSql()));
    ASSERT_GOOD(writer_.begin());
    ASSERT_GOOD(inheritScopes(writer_.database()));
    ASSERT_GOOD(writer_.commit());
  }

  // The scope of a slice, 0 for none; checks that scope_how agrees.
  model::SliceId scopeOf(model::SliceId id, const std::string& how) {
    auto row = writer_.database().prepare("SELECT scope_id, scope_how FROM slice WHERE id = ?");
    row->bindAll(id);
    EXPECT_TRUE(row->step());
    EXPECT_EQ(row->text(1), how);
    return row->id<model::SliceId>(0);
  }

  TraceWriter writer_;
};

TEST_F(ScopeInheritance, AThreadWithoutAScopeWorksForTheBackwardPass) {
  const auto step = add(1, SliceKind::Iteration, 0, 100);
  const auto backward = add(1, SliceKind::Backward, 40, 40, step);
  const auto module = add(1, SliceKind::Module, 50, 10, backward);
  const auto before = add(2, SliceKind::Api, 39, 5);
  const auto first = add(2, SliceKind::Api, 40, 5);
  const auto inModule = add(2, SliceKind::Api, 55, 1);
  const auto afterModule = add(2, SliceKind::Api, 60, 1);
  const auto after = add(2, SliceKind::Api, 80, 1);
  const auto elsewhere = add(4, SliceKind::Api, 55, 1);
  const auto own = add(3, SliceKind::Operation, 45, 10);
  const auto inner = add(3, SliceKind::Api, 46, 1, own);
  inherit();
  EXPECT_EQ(scopeOf(before, "none"), model::SliceId{});
  EXPECT_EQ(scopeOf(first, "inherited"), backward);
  EXPECT_EQ(scopeOf(inModule, "inherited"), module);
  EXPECT_EQ(scopeOf(afterModule, "inherited"), backward);
  EXPECT_EQ(scopeOf(after, "none"), model::SliceId{});
  EXPECT_EQ(scopeOf(elsewhere, "none"), model::SliceId{});
  EXPECT_EQ(scopeOf(own, "inherited"), backward);
  EXPECT_EQ(scopeOf(inner, "own"), own);
  EXPECT_EQ(scopeOf(module, "own"), backward);
  EXPECT_EQ(scopeOf(step, "none"), model::SliceId{});
}

TEST_F(ScopeInheritance, ABackwardPassThatNeverEndedLastsToTheEnd) {
  const auto backward = add(1, SliceKind::Backward, 40, {});
  const auto late = add(2, SliceKind::Api, 1'000'000, 1);
  inherit();
  EXPECT_EQ(scopeOf(late, "inherited"), backward);
}

TEST_F(ScopeInheritance, ABackwardPassWhoseEndWasLostLastsNoLongerThanItCan) {
  const auto backward = add(1, SliceKind::Backward, 40, {});
  const auto key = writer_.intern(model::kAtMostKey);
  ASSERT_TRUE(key);
  ASSERT_TRUE(writer_.add(model::Arg{model::Owner::Slice, backward.value, *key, std::int64_t{10}}));
  const auto during = add(2, SliceKind::Api, 49, 1);
  const auto after = add(2, SliceKind::Api, 50, 1);
  inherit();
  EXPECT_EQ(scopeOf(during, "inherited"), backward);
  EXPECT_EQ(scopeOf(after, "none"), model::SliceId{});
}

// Thread 1 works in a step from 0 to 100; thread 2 waits from 10 to 30 and is woken at 25.
class HandedOver : public ScopeInheritance {
 protected:
  HandedOver() { step_ = add(1, SliceKind::Operation, 0, 100); }

  model::SliceId wait(std::int64_t thread,
                      std::pair<std::int64_t, std::int64_t> time,
                      std::string_view call = "pthread_cond_wait",
                      model::SliceId parent = {}) {
    model::Slice slice{{},
                       model::ThreadId{thread},
                       SliceKind::Wait,
                       "sync",
                       *writer_.intern(call),
                       time.first,
                       time.second - time.first};
    slice.parentId = parent;
    slice.scopeHow = model::ScopeHow::None;
    return *writer_.add(slice);
  }

  model::SliceId handOff(std::int64_t waker,
                         std::int64_t wakee,
                         std::pair<std::int64_t, std::int64_t> time,
                         std::string_view call = "pthread_cond_wait",
                         bool certain = true) {
    model::Handoff row;
    row.sliceId = wait(wakee, time, call);
    row.kind = model::SyncObject::Condition;
    row.wakerThreadId = model::ThreadId{waker};
    row.wakerNs = time.second - 5;
    row.wakeeThreadId = model::ThreadId{wakee};
    row.blockNs = time.first;
    row.wakeNs = time.second;
    row.certain = certain;
    EXPECT_TRUE(writer_.add(row));
    return row.sliceId;
  }

  model::SliceId step_;
};

TEST_F(HandedOver, AWorkerWorksForWhoLetItGoOn) {
  const auto before = add(2, SliceKind::Api, 5, 2);
  const auto waited = handOff(1, 2, {10, 30});
  const auto work = add(2, SliceKind::Api, 35, 5);
  const auto later = add(2, SliceKind::Io, 200, 5);
  const auto again = wait(2, {300, 400});
  const auto afterTimeOut = add(2, SliceKind::Api, 410, 5);
  inherit();
  EXPECT_EQ(scopeOf(before, "none"), model::SliceId{});
  EXPECT_EQ(scopeOf(waited, "none"), model::SliceId{});
  EXPECT_EQ(scopeOf(work, "inherited"), step_);
  EXPECT_EQ(scopeOf(later, "inherited"), step_) << "for as long as it does not wait for more";
  EXPECT_EQ(scopeOf(again, "none"), model::SliceId{});
  EXPECT_EQ(scopeOf(afterTimeOut, "none"), model::SliceId{});
}

TEST_F(HandedOver, WorkGoesThroughSeveralHands) {
  handOff(1, 2, {10, 30});
  handOff(2, 3, {12, 50});
  const auto work = add(3, SliceKind::Api, 60, 5);
  inherit();
  EXPECT_EQ(scopeOf(work, "inherited"), step_);
}

TEST_F(HandedOver, NothingIsHandedOverByWhoIsNotCertainOrByALock) {
  handOff(1, 2, {10, 30}, "sem_wait", false);
  const auto unsure = add(2, SliceKind::Api, 35, 5);
  handOff(1, 3, {10, 30}, "pthread_mutex_lock");
  handOff(1, 3, {31, 40}, "pthread_cond_timedwait");
  const auto locked = add(3, SliceKind::Api, 45, 5);
  inherit();
  EXPECT_EQ(scopeOf(unsure, "none"), model::SliceId{});
  EXPECT_EQ(scopeOf(locked, "none"), model::SliceId{});
}

TEST_F(HandedOver, AWaitWithATimeLimitHandsOverAndEnds) {
  handOff(1, 2, {10, 30});
  const auto next = add(1, SliceKind::Operation, 110, 300);
  std::vector<model::SliceId> works;
  std::vector<model::SliceId> afterTimeOuts;
  std::int64_t at = 120;
  for (const auto* call : {"sem_clockwait", "sem_timedwait", "pthread_cond_clockwait", "futex"}) {
    handOff(1, 2, {at, at + 10}, call);
    works.push_back(add(2, SliceKind::Api, at + 15, 5));
    wait(2, {at + 25, at + 30}, call);
    afterTimeOuts.push_back(add(2, SliceKind::Api, at + 35, 5));
    at += 50;
  }
  inherit();
  for (const model::SliceId work : works)
    EXPECT_EQ(scopeOf(work, "inherited"), next);
  for (const model::SliceId afterTimeOut : afterTimeOuts)
    EXPECT_EQ(scopeOf(afterTimeOut, "none"), model::SliceId{});
}

TEST_F(HandedOver, AThreadWithScopesOfItsOwnIsNoWorker) {
  handOff(1, 2, {10, 30});
  const auto outside = add(2, SliceKind::Api, 35, 5);
  add(2, SliceKind::Operation, 60, 5);
  inherit();
  EXPECT_EQ(scopeOf(outside, "none"), model::SliceId{});
}

TEST_F(HandedOver, ABackwardComesFirst) {
  const auto backward = add(3, SliceKind::Backward, 32, 20);
  handOff(1, 2, {10, 30});
  const auto inBackward = add(2, SliceKind::Api, 35, 5);
  const auto after = add(2, SliceKind::Api, 60, 5);
  inherit();
  EXPECT_EQ(scopeOf(inBackward, "inherited"), backward);
  EXPECT_EQ(scopeOf(after, "inherited"), step_);
}

TEST_F(HandedOver, WhoWaitsWorksForNobodyButInsideOfItsWorkOrForALock) {
  const auto backward = add(1, SliceKind::Backward, 20, 30);
  const auto work = add(2, SliceKind::Collective, 35, 10);
  const auto within = wait(2, {36, 40}, "pthread_cond_clockwait", work);
  const auto forWork = wait(2, {22, 34});
  const auto forBytes = wait(3, {22, 60}, "epoll_wait");
  const auto forALock = wait(2, {46, 49}, "pthread_mutex_lock");
  const auto forTheInterpreter = wait(2, {49, 50}, "pthread_cond_timedwait");
  inherit();
  EXPECT_EQ(scopeOf(within, "inherited"), backward);
  EXPECT_EQ(scopeOf(forALock, "inherited"), backward);
  EXPECT_EQ(scopeOf(forTheInterpreter, "inherited"), backward);
  EXPECT_EQ(scopeOf(forWork, "none"), model::SliceId{});
  EXPECT_EQ(scopeOf(forBytes, "none"), model::SliceId{});
}

TEST_F(HandedOver, WhoWorksForABackwardHandsItOn) {
  const auto backward = add(1, SliceKind::Backward, 20, 30);
  handOff(3, 2, {10, 30});  // thread 3 has no scope of its own either
  const auto work = add(2, SliceKind::Api, 60, 5);
  inherit();
  EXPECT_EQ(scopeOf(work, "inherited"), backward) << "at 25, when it was handed over";
}

TEST_F(ScopeInheritance, OfSeveralThreadsTheLatestBackwardCounts) {
  const auto first = add(1, SliceKind::Backward, 0, 100);
  const auto second = add(2, SliceKind::Backward, 10, 20);
  const auto both = add(3, SliceKind::Api, 15, 1);
  const auto one = add(3, SliceKind::Api, 35, 1);
  inherit();
  EXPECT_EQ(scopeOf(both, "inherited"), second);
  EXPECT_EQ(scopeOf(one, "inherited"), first);
  EXPECT_EQ(scopeOf(second, "none"), model::SliceId{});
}

struct Pass {
  std::int64_t thread, start, end;
  model::SliceId id;
};

TEST_F(ScopeInheritance, EqualsAScanOnRandomPasses) {
  std::mt19937_64 random(3);
  std::vector<Pass> passes;
  std::vector<Pass> calls;
  for (std::int64_t thread = 1; thread <= 2; ++thread) {
    std::int64_t now = 0;
    for (int i = 0; i < 200; ++i) {
      now += static_cast<std::int64_t>(random() % 50 + 1);
      const auto duration = static_cast<std::int64_t>(random() % 50 + 1);
      passes.push_back(
          {thread, now, now + duration, add(thread, SliceKind::Backward, now, duration)});
      now += duration;
    }
  }
  for (int i = 0; i < 2000; ++i) {
    const auto start = static_cast<std::int64_t>(random() % 11'000);
    calls.push_back({3, start, start, add(3, SliceKind::Api, start, 1)});
  }
  inherit();
  for (const Pass& call : calls) {
    const Pass* latest = nullptr;
    bool tie = false;
    for (const Pass& pass : passes) {
      if (pass.start > call.start || pass.end <= call.start)
        continue;
      tie = latest != nullptr && latest->start == pass.start;
      if (latest == nullptr || pass.start > latest->start)
        latest = &pass;
    }
    if (tie)
      continue;
    EXPECT_EQ(scopeOf(call.id, latest == nullptr ? "none" : "inherited"),
              latest == nullptr ? model::SliceId{} : latest->id);
  }
}

}  // namespace
}  // namespace sonde::store
