#include "analysis/export/stacks/flame_graph.h"

#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace sonde::exports {
namespace {

using test::must;
using ::testing::HasSubstr;
using ::testing::Not;

class FlameGraph : public ::testing::Test {
 protected:
  void add(const std::vector<std::string>& names, std::int64_t ns) {
    std::vector<PathTree::Frame> frames;
    for (const std::string& name : names)
      frames.push_back(tree_.frameOf(name));
    tree_.add(tree_.pathOf(PathTree::kRoot, frames), ns);
  }
  std::string drawn(const std::string& title = "t") {
    OutputFile output = must(OutputFile::create(folder_ / "out.svg", false));
    must(writeFlameGraph(tree_, title, {"CPU time"}, output));
    must(output.finish());
    return test::readText(folder_ / "out.svg");
  }
  // "NAME x y width" of each frame.
  static std::vector<std::string> rectanglesOf(const std::string& svg) {
    const std::regex frame(
        "data-t=\"([^\"]*)\"[^]*?<rect x=\"([^\"]*)\" y=\"([^\"]*)\" "
        "width=\"([^\"]*)\"");
    std::vector<std::string> found;
    for (std::sregex_iterator at(svg.begin(), svg.end(), frame), end; at != end; ++at)
      found.push_back((*at)[1].str() + " " + (*at)[2].str() + " " + (*at)[3].str() + " " +
                      (*at)[4].str());
    return found;
  }

  test::TemporaryFolder folder_;
  PathTree tree_;
};

// 1,200 pixels wide, half a pixel between frames, the outermost at the bottom.
TEST_F(FlameGraph, AFrameIsAsWideAsItsTime) {
  add({"rank 0", "a", "b"}, 600);
  add({"rank 0", "a"}, 200);
  add({"rank 0", "c"}, 400);
  EXPECT_EQ(
      rectanglesOf(drawn()),
      (std::vector<std::string>{
          "rank 0 0.00 74 1199.50", "a 0.00 57 799.50", "b 0.00 40 599.50", "c 800.00 57 399.50"}));
}

TEST_F(FlameGraph, WhatIsTooNarrowToBeSeenIsLeftOut) {
  add({"p", "large"}, 1'000'000);
  add({"p", "small"}, 100);
  add({"p", "tiny"}, 1);
  const std::string svg = drawn();
  EXPECT_THAT(svg, HasSubstr("\"small\""));
  EXPECT_THAT(svg, Not(HasSubstr("tiny")));
}

TEST_F(FlameGraph, NamesStayWhatTheyAre) {
  add({"p", "std::map<int, \"x\" & y>::operator()"}, 5);
  const std::string svg = drawn("a < b");
  EXPECT_THAT(svg, HasSubstr("data-t=\"std::map&lt;int, &quot;x&quot; &amp; y&gt;::operator()\""));
  EXPECT_THAT(svg, HasSubstr(">a &lt; b</text>"));
  EXPECT_THAT(svg, HasSubstr("0.000 s, 100.00 %"));
}

TEST_F(FlameGraph, PythonHasAColourOfItsOwn) {
  add({"p", "step (train.py:7)", "gemm"}, 5);
  const std::string svg = drawn();
  // Whether there is more blue than red.
  const auto isBlue = [&](const std::string& name) {
    std::smatch found;
    const std::regex colour("data-t=\"" + name + "\"[^]*?fill=\"#(..)..(..)\"");
    EXPECT_TRUE(std::regex_search(svg, found, colour));
    return found[2].str() > found[1].str();
  };
  EXPECT_TRUE(isBlue("step \\(train.py:7\\)"));
  EXPECT_FALSE(isBlue("gemm"));
}

TEST_F(FlameGraph, AShortenedNameIsWholeText) {
  add({"p", "größe größe größe größe"}, 1);
  add({"p", "z"}, 10);
  EXPECT_THAT(drawn(), HasSubstr(">größe größe g..</text>"));
}

}  // namespace
}  // namespace sonde::exports
