// Each folder beside this file is a case: the records of processes (`input`, see spool_script.h), a
// query (`query.sql`) and the answer (`expected.csv`). The records pass through real spool files
// and the recorder's code to a finished trace, the query through `sonde sql`.
// SONDE_REWRITE_GOLDEN=1 writes the answers instead of comparing them: read the diff.
#include "recorder/drain/drainer.h"
#include "tests/golden/spool_script.h"
#include "tests/support/run_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde::test {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = SONDE_SOURCE_DIR "/tests/golden";

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kCases))
    if (fs::exists(entry.path() / "query.sql"))
      names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

void record(ScriptedRun& run, const fs::path& folder, const fs::path& trace) {
  fs::create_directories(folder);
  writeText(folder / "session", std::string(4096, '\0'));
  for (SpoolBuilder& image : run.images)
    image.write(folder);
  recorder::DrainerOptions options;
  options.folder = folder;
  options.part = trace.string() + ".part";
  options.hostName = "node";
  options.clock = [&] { return run.recorder; };
  auto drainer = recorder::Drainer::open(std::move(options));
  ASSERT_TRUE(drainer) << drainer.error().message;
  for (recorder::ProcessFacts& facts : run.facts)
    (*drainer)->notes().add(facts);
  const auto totals = (*drainer)->finish(trace);
  ASSERT_TRUE(totals) << totals.error().message;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, AnswersAsExpected) {
  const fs::path of = kCases / GetParam();
  auto run = parseSpoolScript(readText(of / "input"));
  ASSERT_TRUE(run) << (of / "input") << ": " << run.error().message;
  const TemporaryFolder folder;
  const std::string trace = folder / "run.sonde";
  ASSERT_NO_FATAL_FAILURE(record(*run, folder.path() / "1-abc", trace));
  Finished answer =
      runProgram({SONDE_PROGRAM, "sql", "--format", "csv", trace, readText(of / "query.sql")});
  ASSERT_EQ(answer.status, 0) << answer.err;
  std::erase(answer.out, '\r');  // text files in the repository have none
  if (std::getenv("SONDE_REWRITE_GOLDEN") != nullptr)
    writeText(of / "expected.csv", answer.out);
  EXPECT_EQ(answer.out, readText(of / "expected.csv")) << "in " << of;
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(cases()), [](const auto& each) {
  return each.param;
});

TEST(SpoolScript, NamesTheLineThatItCannotRead) {
  EXPECT_EQ(parseSpoolScript("image 1 0 5\n\n# fine\nbegin 0 nothing x 7\n").error().message,
            "line 4: begin 0 nothing x 7");
  EXPECT_FALSE(parseSpoolScript("begin 0 phase x 7\n"));          // of no image
  EXPECT_FALSE(parseSpoolScript("image 1 0 5\nend 0 x 7\n"));     // not open
  EXPECT_FALSE(parseSpoolScript("image 1 0 5\nfork 0 1 7 8\n"));  // a word too many
  EXPECT_TRUE(parseSpoolScript("image 1 0 5\nmark 0 \"a b\" 7 # said\n"));
}

}  // namespace
}  // namespace sonde::test
