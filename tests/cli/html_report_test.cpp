// `sonde report --format html`: one well-formed file that needs nothing else, with the verdicts and
// numbers of the other formats, whatever the names in a trace.
#include "cli/html/html_report.h"

#include "cli/html/page.h"
#include "cli/html/plots.h"
#include "tests/cli/verbs_fixture.h"
#include "tests/jobsim/faults.h"
#include "tests/jobsim/simulation.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"
#include "tests/support/run_program.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::TrainingRun;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

class HtmlReport : public Verbs {
 protected:
  // The content that read_html.py finds in the page: headings, findings, plots; it fails for a page
  // that is not well-formed or needs another file.
  json read(const std::string& page) {
    const std::string file = folder_ / "page.html";
    test::writeText(file, page);
    const Finished read =
        test::runProgram({SONDE_PYTHON, SONDE_SOURCE_DIR "/tests/cli/read_html.py", file});
    EXPECT_EQ(read.status, 0) << read.err;
    return json::parse(read.out, nullptr, false);
  }
  json pageOf(const std::vector<std::string>& traces) {
    std::vector<std::string> words = {"report", "--format", "html"};
    words.insert(words.end(), traces.begin(), traces.end());
    const Finished report = sonde(words);
    EXPECT_EQ(report.status, 0) << report.err;
    EXPECT_EQ(report.err, "");
    size_ = report.out.size();
    return read(report.out);
  }
  std::string simulated(const jobsim::Job& job) {
    const std::string path = folder_ / "job.sonde";
    std::filesystem::remove(path);
    jobsim::writeTrace(job, jobsim::simulate(job), path);
    return path;
  }
  std::size_t size_ = 0;  // bytes of the last page
};

TEST_F(HtmlReport, HasTheVerdictsAndThePartsOfTheJob) {
  TrainingRun run;
  run.iterations = 30;
  run.slow = {7, 19};
  run.extraNs = 300 * test::kMs;
  const json page = pageOf({write(0, run), write(1, run)});
  EXPECT_THAT(page["headings"],
              AllOf(Contains("Verdicts"),
                    Contains("Iterations"),
                    Contains("Where the time went"),
                    Contains("Operations"),
                    Contains("Losses and other values"),
                    Contains("Recording")));
  EXPECT_THAT(page["headings"], Not(Contains("Devices")));  // it has none
  EXPECT_THAT(page["fired"], Contains("step-outlierrank 0, rank 1"));
  EXPECT_THAT(page["links"], Each(::testing::StartsWith("#")));
  // Iterations and the loss; the slow ones of both ranks are marked.
  EXPECT_EQ(page["plots"], 2);
  EXPECT_EQ(page["outliers"], 4);
}

TEST_F(HtmlReport, ShowsWhatSondeCheckSays) {
  const std::string trace = simulated(jobsim::FaultMaker(5).make(jobsim::Fault::NotOverlapped));
  const json check = json::parse(sonde({"check", trace, "--format", "json"}).out);
  std::map<std::string, int> verdicts;
  std::vector<std::string> fired;  // the first of those with one message
  std::set<std::string> messages;
  for (const json& each : check["results"]) {
    ++verdicts[each["verdict"]];
    if (each["verdict"] == "fired" && messages.insert(each["message"]).second)
      fired.push_back(each["rule"].get<std::string>() + each["entity"].get<std::string>());
  }
  const json page = pageOf({trace});
  ASSERT_FALSE(fired.empty());
  for (const std::string& each : fired)
    EXPECT_THAT(page["fired"], Contains(::testing::StartsWith(each)));
  for (const char* verdict : {"fired", "insufficient", "pass", "skipped"})
    EXPECT_EQ(page["tally"][verdict], std::to_string(verdicts[verdict])) << verdict;
  EXPECT_THAT(page["headings"],
              AllOf(Contains("Devices"), Contains("Communication and slow ranks")));
  EXPECT_THAT(page["text"].get<std::string>(), HasSubstr("ncclDevKernel_AllReduce"));
}

TEST_F(HtmlReport, EscapesTheNamesOfTraces) {
  const std::string evil = "<script>alert('x')</script> & \"quotes\" \x01 \xff \xe2\x9c\x93 ]]>";
  const std::string path = folder_ / "evil.sonde";
  {
    test::TraceBuilder trace(path);
    const auto host = trace.add(model::Host{.name = evil, .bootId = "b"});
    model::Process process{.hostId = host, .pid = 7, .rank = 0};
    process.command = evil;
    process.id = trace.add(process);
    const auto thread = trace.add(model::Thread{.processId = process.id, .tid = 7});
    for (int i = 0; i < 3; ++i) {
      const std::int64_t begin = 1000 * i;
      const auto slice =
          trace.slice(thread, model::SliceKind::Iteration, evil, {begin, begin + 900});
      trace.add(model::Iteration{
          .processId = process.id, .number = i, .startNs = begin, .durNs = 900, .sliceId = slice});
      trace.slice(thread, model::SliceKind::Operation, evil, {begin, begin + 500}, slice);
      trace.add(model::Scalar{.processId = process.id,
                              .iteration = i,
                              .nameId = trace.name(evil),
                              .value = 1.0 / (i + 1),
                              .tsNs = begin + 800});
    }
    trace.add(model::Loss{.probe = evil, .kind = evil, .count = 3, .reason = evil});
    trace.finish();
  }
  const json page = pageOf({path});
  EXPECT_EQ(page["scripts"], 0);
  EXPECT_THAT(page["headings"], Contains(HasSubstr("<script>alert('x')</script> & \"quotes\"")));
  EXPECT_THAT(page["text"].get<std::string>(), HasSubstr("\xe2\x9c\x93 ]]>"));
}

TEST_F(HtmlReport, OfAProgramWithoutIterationsIsShort) {
  const std::string path = folder_ / "bare.sonde";
  {
    test::TraceBuilder trace(path);
    const auto host = trace.add(model::Host{.name = "h", .bootId = "b"});
    const auto process = trace.add(model::Process{.hostId = host, .pid = 7});
    const auto thread = trace.add(model::Thread{.processId = process, .tid = 7});
    trace.slice(thread, model::SliceKind::Operation, "work", {0, 1000});
    trace.finish();
  }
  const json page = pageOf({path});
  EXPECT_THAT(page["headings"], AllOf(Contains("Verdicts"), Contains("Operations")));
  EXPECT_THAT(page["headings"], Not(Contains("Iterations")));
  EXPECT_EQ(page["plots"], 0);
}

TEST_F(HtmlReport, OfManyRanksAndIterationsStaysSmall) {
  jobsim::DataParallel of{.ranks = 64, .ranksPerMachine = 8, .iterations = 40, .layers = 2};
  of.buckets = 1;
  const json page = pageOf({simulated(jobsim::dataParallelJob(of))});
  EXPECT_LT(size_, 150'000U);
  EXPECT_EQ(page["most_bars"], kHtmlRanks);
  EXPECT_THAT(page["text"].get<std::string>(), HasSubstr("48 more are not drawn"));
}

TEST_F(HtmlReport, IsWrittenToAFile) {
  const std::string file = folder_ / "report.html";
  const std::string trace = write(0);
  EXPECT_EQ(sonde({"report", trace, "--format", "html", "-o", file}).out, "");
  EXPECT_EQ(test::readText(file), sonde({"report", trace, "--format", "html"}).out);
  const Finished over = sonde({"report", trace, "--format", "html", "-o", trace});
  EXPECT_EQ(over.status, 2);
  const Finished hta = sonde({"report", trace, "--format", "html", "--compat", "hta"});
  EXPECT_EQ(hta.status, 2);
  EXPECT_THAT(hta.err, HasSubstr("leave out --compat hta"));
}

TEST(HtmlPage, ClosesWhatItOpensAndEscapesAttributes) {
  Page page;
  page.begin("p", {{"title", "a\"<b>'&"}}).text("x < y").end();
  EXPECT_EQ(page.finished(), "<p title=\"a&quot;&lt;b&gt;&#39;&amp;\">x &lt; y</p>\n");
}

TEST(HtmlPlots, KeepsPeaksOfThinnedSeries) {
  LinePlot plot;
  plot.series.push_back({"loss", {}, 5.0});
  for (int i = 0; i < 100'000; ++i)
    plot.series[0].points.push_back({static_cast<double>(i), i == 77'777 ? 9.0 : 1.0});
  plot.series[0].points.push_back({100'000, std::nan("")});
  Page page;
  addPlot(page, plot);
  const std::string svg = page.finished();
  EXPECT_LT(svg.size(), 100'000U);
  EXPECT_THAT(svg, HasSubstr("class=\"outlier\""));
  EXPECT_THAT(svg, HasSubstr("The plot has"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

std::string plotOf(const std::vector<double>& values, bool fromZero) {
  LinePlot plot;
  plot.yKind = ColumnKind::Real;
  plot.fromZero = fromZero;
  plot.series.push_back({"value", {}, 2.0});
  for (const double value : values)
    plot.series[0].points.push_back(
        {static_cast<double>(plot.series[0].points.size()) + 9e18, value});
  Page page;
  addPlot(page, plot);
  return page.finished();
}

TEST(HtmlPlots, DrawsValuesThatDoublesCanHardlyTellApart) {
  constexpr double kMost = std::numeric_limits<double>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> series = {{0.1, 0.10000000000000002},
                                                   {-0.1, -0.10000000000000002},
                                                   {1e30},
                                                   {1e30, 1.0000000000000002e30},
                                                   {-1e308, 1e308},
                                                   {-kMost, kMost},
                                                   {kMost},
                                                   {0, 5e-324},
                                                   {1e-310, 2e-310},
                                                   {1, kInfinity, -kInfinity, 3},
                                                   {kInfinity},
                                                   {}};
  for (const std::vector<double>& values : series)
    for (const bool fromZero : {false, true}) {
      const std::string svg = plotOf(values, fromZero);
      EXPECT_LT(svg.size(), 10'000U) << svg;
      EXPECT_THAT(svg, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf")))) << values.size();
      EXPECT_THAT(svg, HasSubstr("class=\"grid\""));
    }
}

}  // namespace
}  // namespace sonde::cli
