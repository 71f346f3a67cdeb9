#include "cli/dispatch.h"

#include "cli/verbs.h"
#include "tests/support/run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <sstream>
#include <string>

namespace sonde::cli {
namespace {

using test::runProgram;
using ::testing::HasSubstr;
using ::testing::Not;
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

TEST(Dispatch, VerbsHaveAPageThatNamesEveryOption) {
  for (const auto& command : allCommands()) {
    const std::string verb = command->name();
    const std::string page = test::readText(SONDE_SOURCE_DIR "/docs/cli/" + verb + ".md");
    EXPECT_THAT(page, StartsWith(std::string("# sonde ") + verb + " ")) << verb;
    const std::string help = runProgram({kSonde, verb, "--help"}).out;
    for (std::size_t at = help.find("--"); at != std::string::npos; at = help.find("--", at + 2)) {
      std::size_t end = at + 2;
      while (end < help.size() && (std::islower(help[end]) != 0 || help[end] == '-'))
        ++end;
      const std::string option = help.substr(at, end - at);
      if (option == "--help" || option == "--output" || option == "--force" || option == "--")
        continue;
      EXPECT_THAT(page, HasSubstr(option)) << verb;
    }
  }
}

TEST(Dispatch, HelpOfRunShowsWhereTheCommandStandsAndPlainTypes) {
  const std::string help = runProgram({kSonde, "run", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("\nUsage: sonde run [OPTIONS] -- COMMAND [ARGUMENT]...\n"));
  EXPECT_THAT(help, HasSubstr("--spool-limit SIZE "));
  EXPECT_THAT(help, Not(HasSubstr("SIZE [")));
}

TEST(Dispatch, HelpIsWrappedAndSpeaksNotAsTheParser) {
  for (const auto& command : allCommands()) {
    const std::string help = runProgram({kSonde, command->name(), "--help"}).out;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 120U) << command->name() << ": " << line;
    for (const char* word : {"REQUIRED", "TEXT", "->", "\n\n\n"})
      EXPECT_THAT(help, Not(HasSubstr(word))) << command->name();
    EXPECT_EQ(runProgram({kSonde, "help", command->name()}).out, help);
  }
}

TEST(Dispatch, AWordThatIsNoFormatIsRefusedByName) {
  for (const char* word : {"foo", "1"}) {
    const auto finished = runProgram({kSonde, "export", "--to", word, "x.sonde"});
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err,
                HasSubstr(std::string("there is no format '") + word +
                          "': use perfetto, chrome, csv or folded"));
  }
}

TEST(Dispatch, HelpOfGuiOffersTheViewsThatThereAre) {
  const auto finished = runProgram({kSonde, "gui", "--help"});
  EXPECT_THAT(finished.out, HasSubstr("--view VIEW"));
  EXPECT_THAT(finished.out, Not(HasSubstr("breakdown")));
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
