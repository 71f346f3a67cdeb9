// The messages and exit statuses of `sonde` for an output that is lost, cannot be made, or would
// replace an input.
#include "tests/cli/refusals.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(Refusals, OutputThatIsLostIsStatus3) {
  const std::string file = trace();
  const std::vector<std::vector<std::string>> calls = {
      {"report", file},
      {"check", file},
      {"sql", file, "SELECT * FROM slice", "--format", "csv"},
      {"rules"},
      {"rules", "--help"},
      {"doctor"}};
  for (const auto& call : calls) {
    std::vector<std::string> words = {"sh", "-c", R"(exec "$0" "$@" > /dev/full)", SONDE_PROGRAM};
    words.insert(words.end(), call.begin(), call.end());
    const Finished finished = runProgram(words);
    SCOPED_TRACE(call.front());
    expectRefusal(finished, call.front(), 3);
    EXPECT_THAT(finished.err, HasSubstr("No space left on device"));
  }
}

TEST_F(Refusals, StandardOutputIsNoFile) {
  const std::string file = trace();
  const std::vector<std::vector<std::string>> calls = {
      {"replay", file, "-o", "-"},
      {"merge", "-o", "-", file},
      {"trim", file, "-o", "-", "--iterations", "1-2"}};
  for (const auto& call : calls) {
    std::vector<std::string> words = {"sh", "-c", R"(cd "$1" && shift && exec "$0" "$@")"};
    words.insert(words.end(), {SONDE_PROGRAM, folder_ / ""});
    words.insert(words.end(), call.begin(), call.end());
    SCOPED_TRACE(call.front());
    const Finished finished = runProgram(words);
    expectRefusal(finished, call.front(), 2);
    EXPECT_THAT(finished.err, HasSubstr("'-' is standard output"));
    EXPECT_FALSE(fs::exists(folder_ / "-"));
  }
}

TEST_F(Refusals, AnOutputWhoseFolderIsMissingOrNoneIsNamedBeforeAnythingIsRead) {
  const std::string file = trace();
  for (const auto& [out, why] : {std::pair{folder_ / "none/o.sonde", "No such file or directory"},
                                 std::pair{file + "/o.sonde", "Not a directory"}}) {
    const std::vector<std::vector<std::string>> calls = {
        {"merge", "-o", out, file},
        {"import", folder_ / "missing.json", "-o", out},
        {"trim", file, "-o", out, "--iterations", "1-2"}};
    for (const auto& call : calls) {
      SCOPED_TRACE(call.front());
      const Finished finished = sonde(call);
      expectRefusal(finished, call.front(), 3);
      EXPECT_EQ(finished.err,
                "sonde " + call.front() + ": cannot write '" + out + "' (" + why +
                    "): give another place with -o\n");
    }
  }
}

TEST_F(Refusals, ASummaryInPlaceOfTheOutputOrNowhereIsSaidBeforeTheWork) {
  const std::string file = trace();
  test::writeText(folder_ / "a.json", R"({"traceEvents": [{"ph": "X", "ts": 1, "dur": 1}]})");
  const std::string output = folder_ / "o.sonde";
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"merge", file}, {"import", folder_ / "a.json"}}) {
    SCOPED_TRACE(call.front());
    const auto with = [&](const std::string& summary) {
      return sonde({call.front(), call.back(), "-o", output, "--summary", summary});
    };
    const Finished same = with(folder_ / "./o.sonde");
    expectRefusal(same, call.front(), 2);
    EXPECT_THAT(same.err, HasSubstr("is the output or an input: give another name"));
    const std::string before = test::readText(call.back());
    const std::string link = folder_ / ("link-" + fs::path(call.back()).filename().string());
    fs::create_symlink(call.back(), link);
    for (const std::string& input : {call.back(), link})
      expectRefusal(
          sonde({call.front(), input, "-o", output, "--summary", call.back()}), call.front(), 2);
    EXPECT_EQ(test::readText(call.back()), before);
    const Finished nowhere = with("/nowhere/s.json");
    expectRefusal(nowhere, call.front(), 3);
    EXPECT_THAT(nowhere.err, HasSubstr("/nowhere/s.json' (No such file or directory): give"));
    EXPECT_FALSE(fs::exists(output));
  }
}

TEST_F(Refusals, AnInputIsNotReplacedByTheOutput) {
  const std::string json = folder_ / "a.json";
  test::writeText(json, R"({"traceEvents": [{"ph": "X", "ts": 1, "dur": 1}]})");
  const std::string recorded = trace();
  for (const auto& words : {std::vector<std::string>{"import", json},
                            {"merge", recorded},
                            {"trim", recorded, "--iterations", "1-2"}}) {
    SCOPED_TRACE(words.front());
    const std::string& input = words[1];
    const std::string before = test::readText(input);
    const std::string link = folder_ / ("link-" + words.front());
    fs::create_symlink(input, link);
    fs::create_hard_link(input, link + "-2.part");
    for (const std::string& output : {input, link, link + "-2"}) {
      std::vector<std::string> call = words;
      call.insert(call.end(), {"-f", "-o", output});
      const Finished finished = sonde(call);
      expectRefusal(finished, words.front(), 2);
      EXPECT_THAT(finished.err, HasSubstr("is also an input: give -o another name"));
      EXPECT_EQ(test::readText(input), before);
    }
    EXPECT_TRUE(fs::is_symlink(link) && fs::exists(link + "-2.part"));
  }
}

}  // namespace
}  // namespace sonde::cli
