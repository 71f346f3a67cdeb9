#include "cli/dispatch.h"

#include "cli/verbs.h"
#include "tests/support/run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::cli {
namespace {

using test::runProgram;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kSonde = SONDE_PROGRAM;

TEST(Dispatch, PrintsItsVersion) {
  const auto finished = runProgram({kSonde, "--version"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out, ::testing::MatchesRegex("sonde [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Dispatch, SuggestsTheNearestVerb) {
  const auto finished = runProgram({kSonde, "giu"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.err, "sonde: there is no verb 'giu': did you mean `sonde gui`?\n");
  EXPECT_EQ(finished.out, "");
}

TEST(Dispatch, SuggestsNothingForAWordThatIsNearNone) {
  const auto finished = runProgram({kSonde, "frobnicate"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.err, "sonde: there is no verb 'frobnicate': `sonde --help` lists the verbs\n");
}

TEST(Dispatch, AsksForAVerb) {
  const auto finished = runProgram({kSonde});
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, StartsWith("sonde: no verb given: "));
}

TEST(Dispatch, NamesTheVerbInUsageErrors) {
  const auto finished = runProgram({kSonde, "gui", "--no-such-option", "x"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, StartsWith("sonde gui: "));
  EXPECT_THAT(finished.err, HasSubstr("--no-such-option"));
  EXPECT_THAT(finished.err, HasSubstr(": see `sonde gui --help`\n"));
}

TEST(Dispatch, ListsEveryVerb) {
  const auto finished = runProgram({kSonde, "--help"});
  EXPECT_EQ(finished.status, 0);
  for (const auto& command : allCommands())
    EXPECT_THAT(finished.out, HasSubstr(std::string("  ") + command->name())) << command->name();
}

TEST(Dispatch, EveryVerbHasAnExampleInItsHelp) {
  for (const auto& command : allCommands()) {
    const auto finished = runProgram({kSonde, command->name(), "--help"});
    EXPECT_EQ(finished.status, 0) << command->name();
    EXPECT_THAT(finished.out, HasSubstr(std::string("\n  sonde ") + command->name() + " "))
        << command->name();
    EXPECT_EQ(finished.out, helpOf(*command)) << command->name();
  }
}

}  // namespace
}  // namespace sonde::cli
