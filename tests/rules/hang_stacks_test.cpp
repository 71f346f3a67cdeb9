#include "rules/builtin/job/hang_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using engine::standstill::StackGroup;
using ::testing::ElementsAre;

const std::vector<StackGroup> kStacks = {
    {{"rank 0", "rank 1"},
     {{"poll(int)", "", 0, false},
      {"wait", "/venv/lib/python3.11/site-packages/torch/distributed.py", 90, true},
      {"_run", "<frozen runpy>", 88, true},
      {"step", "/home/me/train.py", 40, true},
      {"call", "/usr/lib/python3.11/threading.py", 7, true},
      {"<module>", "/home/me/main.py", 1, true}}},
    {{"rank 2"}, {{"sleep", "/opt/dist-packages/rest.py", 3, true}}}};

std::vector<std::string> pathsFor(const std::string& entity) {
  Finding finding{entity, {}};
  addStacks(kStacks, StackLines::OfFunctions, finding);
  std::vector<std::string> paths;
  for (const Location& each : finding.outcome.locations)
    paths.push_back(each.path);
  return paths;
}

TEST(HangStacks, OwnCodeIsFirst) {
  EXPECT_THAT(pathsFor("rank 1"),
              ElementsAre("/home/me/train.py",
                          "/home/me/main.py",
                          "/venv/lib/python3.11/site-packages/torch/distributed.py",
                          "<frozen runpy>",
                          "/usr/lib/python3.11/threading.py"));
  EXPECT_THAT(pathsFor("rank 2"), ElementsAre("/opt/dist-packages/rest.py"));
  EXPECT_TRUE(pathsFor("job").empty());
}

TEST(HangStacks, ALineIsTheFunctionsOrTheCalls) {
  const auto stacks = [](StackLines lines) {
    Finding finding{"job", {}};
    addStacks(kStacks, lines, finding);
    return std::get<std::vector<std::string>>(finding.outcome.evidence.at("stacks")).back();
  };
  EXPECT_EQ(stacks(StackLines::OfFunctions), "rank 2: sleep (rest.py, function at line 3)");
  EXPECT_EQ(stacks(StackLines::OfCalls), "rank 2: sleep (rest.py:3)");
}

}  // namespace
}  // namespace sonde::rules
