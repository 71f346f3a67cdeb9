#include "analysis/export/charts/bar_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace sonde::exports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A drawn part: "GROUP, BAR: SERIES" with begin and width of its rectangle.
struct Drawn {
  std::string what;
  double x = 0;
  double width = 0;
  bool isRaw = false;
};

std::vector<Drawn> partsOf(const std::string& svg) {
  const std::regex part(
      "<rect x=\"([^\"]*)\" y=\"[^\"]*\" width=\"([^\"]*)\"[^>]*fill=\"[^\"]*\"( "
      "fill-opacity)?[^>]*><title>([^<]*), [^<]*</title>");
  std::vector<Drawn> drawn;
  for (std::sregex_iterator at(svg.begin(), svg.end(), part), end; at != end; ++at)
    drawn.push_back(
        {(*at)[4].str(), std::stod((*at)[1].str()), std::stod((*at)[2].str()), (*at)[3].matched});
  return drawn;
}

// Forward took 60 ms; 100 ms were recorded.
BarChart chartOf() {
  BarChart chart;
  chart.title = "job.sonde";
  chart.series = {"python", "io"};
  chart.corrected = true;
  chart.groups = {{"forward",
                   {{"rank 0",
                     {{0, 40'000'000, 60'000'000}, {1, 20'000'000, 40'000'000}},
                     60'000'000,
                     50'000'000,
                     70'000'000,
                     100'000'000}}}};
  return chart;
}

TEST(BarChart, PartsAreStackedAsLongAsTheyAreOnOneAxis) {
  const auto drawn = partsOf(svgOf(chartOf()));
  ASSERT_EQ(drawn.size(), 4U);
  EXPECT_EQ(drawn[0].what, "forward, rank 0: python");
  EXPECT_NEAR(drawn[0].width, 2 * drawn[1].width, 0.05);
  EXPECT_NEAR(drawn[1].x, drawn[0].x + drawn[0].width, 0.05);
  EXPECT_NEAR(drawn[2].x, drawn[0].x, 0.05) << "the recorded bar begins at 0, too";
  EXPECT_NEAR(drawn[2].width, 1.5 * drawn[0].width, 0.05) << "and nothing is rescaled";
  EXPECT_NEAR(drawn[3].x, drawn[2].x + drawn[2].width, 0.05);
  EXPECT_TRUE(drawn[2].isRaw && drawn[3].isRaw && !drawn[0].isRaw && !drawn[1].isRaw);
}

TEST(BarChart, TheIntervalLiesWhereItsEndsAre) {
  const std::string svg = svgOf(chartOf());
  const auto drawn = partsOf(svg);
  const std::regex interval("<path d=\"M([0-9.]+) [0-9.]+H([0-9.]+)M");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(svg, match, interval));
  const double perMs = drawn[1].width / 20;
  EXPECT_NEAR(std::stod(match[1].str()), drawn[0].x + 50 * perMs, 0.1);
  EXPECT_NEAR(std::stod(match[2].str()), drawn[0].x + 70 * perMs, 0.1);
}

TEST(BarChart, AsRecordedThereIsOneBarAndNoEmptyInterval) {
  BarChart chart = chartOf();
  chart.corrected = false;
  chart.groups[0].bars[0].lowNs = chart.groups[0].bars[0].highNs = 60'000'000;
  const std::string svg = svgOf(chart);
  EXPECT_EQ(partsOf(svg).size(), 2U);
  EXPECT_THAT(svg, Not(HasSubstr("stroke=\"#000000\"")));
}

TEST(BarChart, NamesAreTextWhateverIsInThem) {
  BarChart chart = chartOf();
  chart.title = "<script>alert(\"1\")</script>\x01";
  chart.groups[0].label = "a & b";
  const std::string svg = svgOf(chart);
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; "));
  EXPECT_THAT(svg, HasSubstr("a &amp; b"));
}

TEST(BarChart, TheAxisHasAUnitThatFits) {
  BarChart chart = chartOf();
  EXPECT_THAT(svgOf(chart), HasSubstr(">time (ms)<"));
  EXPECT_THAT(svgOf(chart), HasSubstr(">100<"));
  for (BarChart::Part& part : chart.groups[0].bars[0].parts)
    part.ns = part.rawNs = 0;
  chart.groups[0].bars[0] = {"rank 0", chart.groups[0].bars[0].parts, 0, 0, 0, 0};
  EXPECT_THAT(svgOf(chart), HasSubstr(">time (ns)<"));
  EXPECT_THAT(svgOf({}), HasSubstr("</svg>"));
}

TEST(BarChart, TheRestOfTheSeriesIsGrey) {
  BarChart chart = chartOf();
  chart.series = {"python", "3 others"};
  chart.lastIsRest = true;
  EXPECT_THAT(svgOf(chart), HasSubstr("fill=\"#999999\""));
  chart.lastIsRest = false;
  EXPECT_THAT(svgOf(chart), Not(HasSubstr("fill=\"#999999\"")));
}

}  // namespace
}  // namespace sonde::exports
