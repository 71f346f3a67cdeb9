// GitHub's workflow commands and step summary, read back by the runner's rules.
#include "rules/reporters/reporters.h"
#include "tests/rules/report_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace sonde::rules {
namespace {

using test::everyKind;
using test::hostileReport;
using test::kSafe;
using test::resultOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Workflow commands as the runner reads them: `::name key=value,…::data`.
struct WorkflowCommand {
  std::string name;
  std::map<std::string, std::string> properties;
  std::string data;
};

std::string unescaped(std::string text, bool isProperty) {
  const auto undo = [&](const std::string& code, const std::string& plain) {
    for (std::size_t at = 0; (at = text.find(code, at)) != std::string::npos; at += plain.size())
      text.replace(at, code.size(), plain);
  };
  undo("%0D", "\r");
  undo("%0A", "\n");
  if (isProperty) {
    undo("%3A", ":");
    undo("%2C", ",");
  }
  undo("%25", "%");
  return text;
}

// The commands of all lines but the last, which is the summary.
std::vector<WorkflowCommand> readGithub(const std::string& text, std::string* summary = nullptr) {
  static const std::regex kCommand(
      R"(::(error|warning|notice) ((?:[a-z]+=[^,:\r\n]*,?)+)::([^\r\n]*))");
  std::vector<WorkflowCommand> commands;
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    std::smatch found;
    EXPECT_TRUE(std::regex_match(lines[i], found, kCommand)) << lines[i];
    WorkflowCommand command{found[1], {}, unescaped(found[3], false)};
    std::istringstream properties(found[2]);
    for (std::string each; std::getline(properties, each, ',');)
      command.properties[each.substr(0, each.find('='))] =
          unescaped(each.substr(each.find('=') + 1), true);
    commands.push_back(std::move(command));
  }
  EXPECT_THAT(lines.back(), Not(StartsWith("::")));
  if (summary != nullptr)
    *summary = lines.back();
  return commands;
}

TEST(GithubReport, AnnotatesProblemsByTheirSeverity) {
  std::string summary;
  const auto commands = readGithub(renderGithub(everyKind(), ""), &summary);
  std::vector<std::pair<std::string, std::string>> found;
  for (const WorkflowCommand& command : commands)
    found.emplace_back(command.name, command.data);
  using Pair = std::pair<std::string, std::string>;
  EXPECT_THAT(found,
              ::testing::ElementsAre(Pair("error", "fired error"),
                                     Pair("warning", "fired warning"),
                                     Pair("notice", "fired info"),
                                     Pair("error", "broken"),
                                     Pair("error", "too little, error"),
                                     Pair("notice", "a note")));
  EXPECT_EQ(commands[0].properties.at("title"), "step-outlier (rank 0)");
  EXPECT_EQ(summary,
            "sonde check: 3 fired, 1 error, 2 insufficient, 1 pass, 1 skipped, 1 suppressed, "
            "1 not recorded");
}

TEST(GithubReport, EscapesSoThatTheRunnerReadsTheSame) {
  const auto commands = readGithub(renderGithub(hostileReport(), ""));
  EXPECT_EQ(commands[0].properties.at("title"), kSafe + " (" + kSafe + ")");
  EXPECT_EQ(commands[0].properties.at("file"), kSafe);
  EXPECT_EQ(commands[0].properties.at("line"), "7");
  EXPECT_EQ(commands[0].data, kSafe + "\nhint: " + kSafe + "\nnext: " + kSafe);
}

TEST(GithubReport, FilesAreRelativeToTheWorkspace) {
  CheckReport report;
  report.results = {resultOf(Verdict::Fired, Severity::Warning, "m"),
                    resultOf(Verdict::Fired, Severity::Warning, "m")};
  report.results[0].outcome.locations = {{"/w/job dir/train.py", 0, ""}};
  report.results[1].outcome.locations = {{"/workspace/train.py", 2, ""}};
  const auto commands = readGithub(renderGithub(report, "/w"));
  EXPECT_EQ(commands[0].properties.at("file"), "job dir/train.py");
  EXPECT_EQ(commands[0].properties.count("line"), 0U);
  EXPECT_EQ(commands[1].properties.at("file"), "/workspace/train.py");
}

// The cells of a row of a Markdown table, as they are shown.
std::vector<std::string> cellsOf(const std::string& row) {
  std::vector<std::string> cells(1);
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '\\' && i + 1 < row.size())
      cells.back() += row[++i];
    else if (row[i] == '|')
      cells.emplace_back();
    else
      cells.back() += row[i];
  }
  cells.pop_back();
  for (std::string& cell : cells)
    cell = cell.substr(1, cell.size() - 2);
  return cells;
}

TEST(GithubSummary, IsATableOfAllThatNeedsAttention) {
  std::istringstream lines(renderGithubSummary(everyKind()));
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);)
    all.push_back(line);
  EXPECT_EQ(all[0],
            "### sonde check: 3 fired, 1 error, 2 insufficient, 1 pass, 1 skipped, 1 suppressed, "
            "1 not recorded");
  EXPECT_EQ(all[2], "| verdict | severity | rule | entity | message |");
  EXPECT_EQ(all[4], "| fired | error | step-outlier | rank 0 | fired error |");
  EXPECT_EQ(all[7],
            "| fired | error | step-outlier | rank 0 | known fault — suppressed: repair (until "
            "2027-01-05) |");
  for (const std::string& line : all)
    EXPECT_FALSE(line.starts_with("| pass") || line.starts_with("| skipped")) << line;
  EXPECT_EQ(all[all.size() - 2], "Note: a note");
}

TEST(GithubSummary, HostileTextStaysInItsCell) {
  const std::string text = renderGithubSummary(hostileReport());
  std::istringstream lines(text);
  std::string row;
  for (int i = 0; i < 5; ++i)
    std::getline(lines, row);
  const std::string shown =
      "a b/\xC3\xBC&amp;&lt;x&gt;\"'|`*_[l](u){0}%0A%:,;   [1m\xEF\xBF\xBD\xEF\xBF\xBD]]&gt;::e::";
  EXPECT_THAT(cellsOf(row), ::testing::ElementsAre("fired", "error", shown, shown, shown));
}

TEST(GithubSummary, IsCutBeforeGithubsLimit) {
  CheckReport report;
  report.results.assign(3000, resultOf(Verdict::Fired, Severity::Error, std::string(1000, 'x')));
  const std::string text = renderGithubSummary(report);
  EXPECT_LT(text.size(), 1024U * 1024U);
  EXPECT_THAT(text, HasSubstr(" more results are not in this table.\n"));
}

}  // namespace
}  // namespace sonde::rules
