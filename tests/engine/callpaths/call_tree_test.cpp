#include "analysis/engine/callpaths/call_tree.h"

#include "analysis/engine/callpaths/call_views.h"
#include "tests/engine/callpaths/path_rig.h"

#include <gmock/gmock.h>

namespace sonde::engine::callpaths {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Paths of own times, as folded stacks.
CallTree folded(const std::vector<std::pair<std::vector<const char*>, std::int64_t>>& paths) {
  CallTreeBuilder builder;
  for (const auto& [frames, ns] : paths) {
    CallNode node = kRoot;
    for (const char* frame : frames)
      node = builder.child(node, builder.nameOf(frame));
    builder.add(node, ns);
  }
  return std::move(builder).finish(CallTreeBuilder::Given::Selves);
}

// main has 5 itself; f calls itself.
CallTree sample() {
  return folded({{{"main"}, 5},
                 {{"main", "f"}, 10},
                 {{"main", "f", "f"}, 3},
                 {{"main", "g"}, 20},
                 {{"main", "g", "f"}, 2}});
}

TEST(CallTree, NumbersChildrenSideBySideTheLongestFirst) {
  const CallTree tree = sample();
  EXPECT_THAT(linesOf(tree),
              ElementsAre("main 40 = 5 own, 5",
                          "main;g 22 = 20 own, 2",
                          "main;f 13 = 10 own, 2",
                          "main;g;f 2 = 2 own, 1",
                          "main;f;f 3 = 3 own, 1"));
  EXPECT_EQ(tree.totalNs[kRoot], 40);
  for (CallNode node = 0; node < tree.size(); ++node)
    for (CallNode child = tree.firstChild[node]; child < tree.endOfChildren(node); ++child) {
      EXPECT_EQ(tree.parents[child], node);
      EXPECT_EQ(tree.depths[child], tree.depths[node] + 1);
    }
}

TEST(CallTree, LeavesOutPathsWithoutEvents) {
  CallTreeBuilder builder;
  builder.child(kRoot, builder.nameOf("idle"));
  builder.add(builder.child(kRoot, builder.nameOf("busy")), 1);
  EXPECT_THAT(linesOf(std::move(builder).finish(CallTreeBuilder::Given::Totals)),
              ElementsAre("busy 1 = 1 own, 1"));
}

TEST(CallTree, InvertedBeginsWithTheOwnTimeOfEachName) {
  EXPECT_THAT(linesOf(inverted(sample())),
              ElementsAre("g 20 = 0 own, 2",
                          "g;main 20 = 20 own, 2",
                          "f 15 = 0 own, 4",
                          "f;main 10 = 10 own, 2",
                          "f;f 3 = 0 own, 1",
                          "f;g 2 = 0 own, 1",
                          "f;f;main 3 = 3 own, 1",
                          "f;g;main 2 = 2 own, 1",
                          "main 5 = 5 own, 5"));
}

TEST(CallTree, TimesByNameCountCallsOfItselfOnce) {
  const CallTree tree = sample();
  std::vector<std::string> lines;
  for (const NameTime& time : timesByName(tree))
    lines.push_back(
        fmt::format("{} {} {} {}", tree.texts[time.name], time.totalNs, time.selfNs, time.count));
  EXPECT_THAT(lines, ElementsAre("main 40 5 5", "g 22 20 2", "f 15 15 4"));
}

TEST(CallTree, CallersAndCalleesShareTheTimeOfAName) {
  const CallTree tree = sample();
  CallName f = 0;
  for (CallName name = 0; name < tree.texts.size(); ++name)
    if (tree.texts[name] == "f")
      f = name;
  const auto textOf = [&](const std::vector<Neighbour>& all) {
    std::vector<std::string> lines;
    for (const Neighbour& each : all)
      lines.push_back(fmt::format("{} {}", tree.texts[each.name], each.ns));
    return lines;
  };
  const Neighbours found = neighboursOf(tree, f);
  EXPECT_EQ(found.time.totalNs, 15);
  EXPECT_EQ(found.time.selfNs, 15);
  EXPECT_THAT(textOf(found.callers), ElementsAre("main 13", "f 3", "g 2"));
  EXPECT_THAT(textOf(found.callees), ElementsAre("f 3"));
}

TEST(CallTree, FindsThePathInAnotherTree) {
  const CallTree tree = sample();
  const CallTree other = folded({{{"other"}, 90}, {{"main", "g"}, 1}, {{"main", "f"}, 2}});
  EXPECT_EQ(pathOf(other, samePath(tree, nodeOf(tree, "main;g"), other)), "main;g");
  EXPECT_EQ(pathOf(other, samePath(tree, nodeOf(tree, "main;g;f"), other)), "main;g");
  EXPECT_EQ(samePath(other, nodeOf(other, "other"), tree), kRoot);
}

TEST(CallTree, TheTimeOfMarkedNamesCountsNestedFramesOnce) {
  const CallTree tree = sample();
  std::vector<bool> marked(tree.texts.size());
  for (CallName name = 0; name < tree.texts.size(); ++name)
    marked[name] = tree.texts[name] == "f" || tree.texts[name] == "g";
  EXPECT_EQ(timeOf(tree, marked), 35);
  EXPECT_EQ(timeOf(tree, std::vector<bool>(tree.texts.size())), 0);
}

}  // namespace
}  // namespace sonde::engine::callpaths
