#include "collector/core/scope_watch.h"

#include "collector/core/emit.h"
#include "tests/core/spool_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::core {
namespace {

using testing::ElementsAre;
using wire::Probe;
using wire::SliceKind;

// Marks in the stream of records show the watch's calls and the records between them.
void sayBefore() noexcept {
  emitMark(intern("before"), Probe::Annotation);
}

void sayAfter(ScopeChange change) noexcept {
  const char* text = change.token == 0 ? "after nothing"
                     : change.opens    ? "after begin"
                                       : "after end";
  if (change.token != 0 && change.kind == SliceKind::Iteration)
    text = change.opens ? "after begin of iteration" : "after end of iteration";
  emitMark(intern(text), Probe::Annotation);
}

constexpr ScopeWatch kWatch{sayBefore, sayAfter};

TEST(ScopeWatch, StandsAroundEachRecordOfAScope) {
  const auto dumps = record([] {
    gScopeWatch.store(&kWatch);
    const std::uint32_t step = beginScope(SliceKind::Iteration, intern("step"), Probe::Annotation);
    const std::uint32_t inner = beginScope(SliceKind::Operation, intern("inner"), Probe::Nvtx, 1);
    EXPECT_NE(inner, 0U);
    EXPECT_TRUE(endInnermost(Probe::Nvtx, 1));
    EXPECT_FALSE(endInnermost(Probe::Nvtx, 1));
    endScope(step);
  });
  ASSERT_EQ(dumps.size(), 1U);
  EXPECT_THAT(dumps[0].story(),
              ElementsAre("mark before",
                          "begin step",
                          "mark after begin of iteration",
                          "mark before",
                          "begin inner",
                          "mark after begin",
                          "mark before",
                          "end inner",
                          "mark after end",
                          "mark before",
                          "mark after nothing",
                          "mark before",
                          "end step",
                          "mark after end of iteration"));
}

TEST(ScopeWatch, IsToldOfAScopeThatFoundNoRoom) {
  const auto dumps = record([] {
    const std::uint32_t name = intern("deep");
    for (std::uint32_t at = 0; at < wire::kMaxOpenScopes; ++at)
      beginScope(SliceKind::Operation, name, Probe::Annotation);
    gScopeWatch.store(&kWatch);
    EXPECT_EQ(beginScope(SliceKind::Iteration, name, Probe::Annotation), 0U);
  });
  const auto story = dumps.at(0).story();
  ASSERT_GE(story.size(), 2U);
  EXPECT_EQ(story.back(), "mark after nothing");
}

}  // namespace
}  // namespace sonde::core
