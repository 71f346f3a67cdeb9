#include "analysis/export/path_tree.h"

#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sonde::exports {
namespace {

using Names = std::vector<std::string>;

class PathTreeTest : public ::testing::Test {
 protected:
  PathTree::Path pathOf(PathTree::Path parent, const Names& names) {
    std::vector<PathTree::Frame> frames;
    for (const std::string& name : names)
      frames.push_back(tree_.frameOf(name));
    return tree_.pathOf(parent, frames);
  }
  std::string written() {
    OutputFile output = test::must(OutputFile::create(folder_ / "out", false));
    test::must(tree_.write(output));
    test::must(output.finish());
    return test::readText(folder_ / "out");
  }

  test::TemporaryFolder folder_;
  PathTree tree_;
};

TEST_F(PathTreeTest, OnePathHasOneNumberHoweverItIsAskedFor) {
  const auto whole = pathOf(PathTree::kRoot, {"a", "b", "c", "d"});
  const auto upper = pathOf(PathTree::kRoot, {"a", "b"});
  EXPECT_EQ(pathOf(upper, {"c", "d"}), whole);
  EXPECT_EQ(pathOf(pathOf(upper, {"c"}), {"d"}), whole);
  EXPECT_EQ(pathOf(upper, {}), upper);
  EXPECT_NE(pathOf(upper, {"d"}), whole);
}

TEST_F(PathTreeTest, APathTakesOneNodeWhateverItsLength) {
  const std::size_t before = tree_.nodes();
  pathOf(PathTree::kRoot, Names(1000, "deep"));
  EXPECT_EQ(tree_.nodes(), before + 1);
}

TEST_F(PathTreeTest, WritesWhatAMapOfPathsHolds) {
  std::mt19937 random(7);
  std::map<Names, std::int64_t> times;  // in the order of the lines
  std::vector<std::pair<PathTree::Path, Names>> known = {{PathTree::kRoot, {}}};
  for (int round = 0; round < 2000; ++round) {
    auto [path, names] = known[random() % known.size()];
    if (names.size() > 6)
      continue;
    Names more(1 + random() % 4);
    for (std::string& name : more)
      name = std::string(1, static_cast<char>('a' + random() % 3));
    path = pathOf(path, more);
    names.insert(names.end(), more.begin(), more.end());
    const std::int64_t ns = round % 3;
    tree_.add(path, ns);
    times[names] += ns;
    known.emplace_back(path, names);
  }
  std::string expected;
  for (const auto& [names, ns] : times) {
    if (ns == 0)
      continue;
    for (const std::string& name : names)
      expected += (&name == &names.front() ? "" : ";") + name;
    expected += " " + std::to_string(ns) + "\n";
  }
  EXPECT_EQ(written(), expected);
  EXPECT_LE(tree_.nodes(), 2 * times.size() + 1);
}

// Depth, begin, time.
TEST_F(PathTreeTest, ABoxHasWhatHangsBelowIt) {
  const auto a = pathOf(PathTree::kRoot, {"a", "b"});
  tree_.add(a, 5);
  tree_.add(pathOf(a, {"z"}), 3);
  tree_.add(pathOf(a, {"c", "d"}), 2);
  tree_.add(pathOf(PathTree::kRoot, {"a", "q"}), 4);
  std::vector<std::string> boxes;
  for (const PathTree::Box& box : tree_.boxes())
    boxes.push_back(tree_.textOf(box.frame) + " " + std::to_string(box.depth) + " " +
                    std::to_string(box.beginNs) + "+" + std::to_string(box.ns));
  EXPECT_EQ(boxes, (Names{"a 0 0+14", "b 1 0+10", "c 2 0+2", "d 3 0+2", "z 2 2+3", "q 1 10+4"}));
}

}  // namespace
}  // namespace sonde::exports
