// The pages docs/rules.md and docs/rules/*.md against the rules themselves.
#include "rules/engine/rule.h"
#include "tests/support/run_program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

namespace sonde::rules {
namespace {

const std::set<std::string> kOfAll = {"warmup", "patience", "patience_s"};

// By rule: the section below its heading.
std::map<std::string, std::string> sections() {
  std::map<std::string, std::string> found;
  std::vector<std::filesystem::path> pages = {SONDE_SOURCE_DIR "/docs/rules.md"};
  for (const auto& page : std::filesystem::directory_iterator(SONDE_SOURCE_DIR "/docs/rules"))
    pages.push_back(page.path());
  for (const auto& page : pages) {
    std::istringstream lines(sonde::test::readText(page));
    std::string heading;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("## "))
        heading = line.substr(3);
      else
        found[heading] += line + "\n";
  }
  return found;
}

TEST(RulesDocs, EachRuleHasASectionWithItsParameters) {
  const auto found = sections();
  for (const RuleInfo& info : builtinRules()) {
    const auto section = found.find(info.name);
    ASSERT_NE(section, found.end()) << info.name;
    for (const ParameterSpec& parameter : info.parameters) {
      if (kOfAll.contains(parameter.name) && parameter.fallback == ParameterValue(std::int64_t{0}))
        continue;
      if (parameter.name == "patience_s")
        continue;
      EXPECT_NE(section->second.find("`" + parameter.name + "`"), std::string::npos)
          << info.name << ": " << parameter.name;
    }
  }
}

TEST(RulesDocs, EachRuleExplainsItself) {
  for (const RuleInfo& info : builtinRules()) {
    EXPECT_FALSE(info.summary.empty() || info.details.empty()) << info.name;
    EXPECT_FALSE(info.hint.ends_with(".")) << info.name;
    for (const ParameterSpec& parameter : info.parameters)
      EXPECT_FALSE(parameter.help.empty()) << info.name << " " << parameter.name;
    std::istringstream lines(info.details);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 120U) << info.name << ": " << line;
  }
}

}  // namespace
}  // namespace sonde::rules
