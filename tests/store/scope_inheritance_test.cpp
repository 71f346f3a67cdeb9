#include "analysis/store/scope_inheritance.h"

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
