// The messages and exit statuses of `sonde` for unusable input.
#include "tests/cli/refusals.h"

#include "analysis/store/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
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

class UnreadableTrace : public Refusals {
 protected:
  UnreadableTrace() {
    test::writeText(folder_ / "text.sonde", std::string(4000, 'x'));
    test::writeText(folder_ / "empty.sonde", "");
    fs::resize_file(trace("cut.sonde"), 100'000);
    auto newer = store::Database::open(trace("newer.sonde"), store::Access::ReadWrite);
    EXPECT_TRUE(newer && newer->exec("PRAGMA user_version = 99"));
  }
  const std::vector<std::pair<std::string, std::string>> files_ = {
      {"text.sonde", "give a file that sonde run, merge, trim or import wrote"},
      {"empty.sonde", "is empty"},
      {"cut.sonde", "is truncated"},
      {"newer.sonde", "has schema 99"}};
};

TEST_F(Refusals, AMissingTraceIsStatus3OfVerbsThatAnswer) {
  const std::string file = folder_ / "missing.sonde";
  const std::vector<std::vector<std::string>> calls = {
      {"graph", file}, {"replay", file}, {"whatif", file, "--no-stragglers"}};
  for (const auto& call : calls) {
    const Finished finished = sonde(call);
    SCOPED_TRACE(call.front());
    expectRefusal(finished, call.front(), 3);
    EXPECT_THAT(finished.err, HasSubstr("missing.sonde"));
  }
}

TEST_F(UnreadableTrace, IsStatus3AndOneLineOfEveryVerb) {
  const std::string out = folder_ / "out.sonde";
  for (const auto& [name, what] : files_) {
    const std::string file = folder_ / name;
    const std::vector<std::vector<std::string>> calls = {
        {"report", file},
        {"breakdown", file},
        {"diff", file, file},
        {"check", file},
        {"graph", file},
        {"replay", file},
        {"whatif", file, "--no-stragglers"},
        {"sql", file, "SELECT 1"},
        {"merge", "-o", out, file},
        {"trim", file, "-o", out, "--iterations", "1-2"}};
    for (const auto& call : calls) {
      SCOPED_TRACE(call.front() + " of " + name);
      const Finished finished = sonde(call);
      expectRefusal(finished, call.front(), 3);
      EXPECT_THAT(finished.err, HasSubstr(what));
      EXPECT_FALSE(fs::exists(out) || fs::exists(out + ".part"));
    }
  }
}

// A file for `sonde import`, with the expected exit status and message.
struct BadImport {
  const char* name;
  const char* text;  // nullptr: there is no such file
  int status;
  const char* what;
};

// A gzip header without data, and one with other data.
constexpr const char* kCutGzip = "\x1f\x8b\x08\x08";
constexpr const char* kNoGzip = "\x1f\x8b\x08no gzip after these three bytes";

constexpr BadImport kBadImports[] = {
    {"missing.json", nullptr, 3, "does not exist: check the name"},
    {"empty.json", "", 3, "is empty: was it copied whole?"},
    {"empty.sqlite", "", 3, "is empty: was it copied whole?"},
    {"run.nsys-rep", "NVTX", 3, "export it with 'nsys export --type sqlite /"},
    {"nccl_trace_rank_3",
     "\x80\x02}q\x00(X\x07pg_config",
     3,
     "needs 1 bytes, but 0 are left in the file"},
    {"dump.json",
     R"({"version": "2.4", "pg_config": {}, "entries": []})",
     3,
     "neither entries nor groups"},
    {"memory.pickle", "\x80\x04}\x94\x8c\x08segments", 3, "opcode STOP at byte"},
    {"host.xplane.pb", "\x0a\x05\x08\x01\x12\x01x", 3, "NAME.trace.json.gz"},
    {"renamed", "\x0a\x0e\x08\x01\x12\x0a/host:CPU ", 3, "NAME.trace.json.gz"},
    {"t.perfetto-trace", "\x0a\x04\x12\x02\x08\x01", 3, "traceconv json"},
    {"trace", "\x0a\x04\x50\x01\x58\x02", 3, "traceconv json"},
    {"perf.data", "PERFILE2 ", 3, "Linux's perf"},
    {"run.zip", "PK\x03\x04", 3, "is a zip archive: unpack it"},
    {"run.json.zst", "\x28\xB5\x2F\xFD", 3, "is compressed by zstd: unpack it"},
    {"utf16.json", "\xFF\xFE{", 3, "is text in UTF-16: convert it to UTF-8"},
    {"et.json",
     R"({"schema": "1.0.2-chakra.0.0.4", "nodes": []})",
     3,
     "is an execution trace of PyTorch: convert it with chakra_converter"},
    {"times.json",
     R"([{"ph": "X", "ts": "soon"}, {"ph": "X"}, {"ph": "Z", "ts": 1}])",
     3,
     "none of its 3 events can be imported: 2 have no readable time"},
    {"text.json", "no JSON", 3, "expected a JSON object or array at byte 0"},
    {"cut.json",
     R"({"traceEvents": [{"ph": "X", "ts": 1,)",
     3,
     "is cut short: it ends among its events at byte"},
    {"cut.json.gz", kCutGzip, 3, "the gzip data ends too early, at byte 4"},
    {"bad.json.gz", kNoGzip, 3, "the gzip data is damaged at byte"},
    {"numbers.json",
     "[1, 2]",
     3,
     "none of its 2 events can be read; the first is the event at byte 1"},
    {"other.json", R"({"name": "no trace"})", 3, "it has no \"traceEvents\""},
    {"none.json", R"({"traceEvents": []})", 3, "it has no \"traceEvents\""},
    {"word.json", R"({"traceEvents": "none"})", 3, "it has no \"traceEvents\""},
    {"cut.0.et",
     "\x07\x0a\x05"
     "0.0",
     3,
     "the message at byte 0 is cut off after 5 of its 7 bytes"},
    {"giant.0.et", "\xff\xff\xff\xff\x7f", 3, "claims to have 34359738367 bytes"},
    {"folder", nullptr, 3, "is a folder: give the trace file itself"},
    {"pipe", nullptr, 3, "is not a regular file: give the trace file itself"}};

TEST_F(Refusals, WhatCannotBeImportedIsNamedWithThePlaceInIt) {
  const std::string out = folder_ / "out.sonde";
  const std::string good = folder_ / "good.json";
  test::writeText(good, R"([{"ph": "X", "ts": 1, "dur": 1, "name": "a", "cat": "cpu_op"}])");
  fs::create_directory(folder_ / "folder");
  ASSERT_EQ(::mkfifo(std::string(folder_ / "pipe").c_str(), 0600), 0);
  for (const BadImport& bad : kBadImports) {
    SCOPED_TRACE(bad.name);
    const std::string file = folder_ / bad.name;
    if (bad.text != nullptr)
      test::writeText(file, bad.text);
    for (const auto& files : {std::vector{file}, std::vector{good, file}}) {
      std::vector<std::string> words = {"import", "-o", out};
      words.insert(words.end(), files.begin(), files.end());
      const Finished finished = sonde(words);
      expectRefusal(finished, "import", bad.status);
      EXPECT_THAT(finished.err, HasSubstr("'" + file + "'"));
      EXPECT_THAT(finished.err, HasSubstr(bad.what));
      EXPECT_FALSE(fs::exists(out) || fs::exists(out + ".part"));
    }
  }
}

// Messages must not contain Sonde's own SQL statements.
TEST_F(Refusals, ADamagedDatabaseIsNamedWithoutTheStatementThatFailed) {
  const std::string file = trace("t.sqlite");
  std::string text = test::readText(file);
  text.replace(100, 4000, 4000, 'x');
  test::writeText(file, text);
  for (const auto& call :
       {std::vector<std::string>{"import", "-o", folder_ / "out.sonde", file}, {"report", file}}) {
    const Finished finished = sonde(call);
    expectRefusal(finished, call.front(), 3);
    EXPECT_THAT(finished.err, HasSubstr("'" + file + "'"));
    EXPECT_THAT(finished.err, Not(HasSubstr("SELECT")));
    EXPECT_THAT(finished.err, Not(HasSubstr("PRAGMA")));
  }
}

TEST_F(Refusals, ATraceWithoutATableOrAColumnIsNamedWithIt) {
  const std::string other = folder_ / "other.sonde";
  test::TrainingRun second;
  second.rank = 1;
  test::writeTrainingRun(other, second);
  for (const auto& [change, what] :
       {std::pair{"DROP TABLE overhead", "no such table: overhead"},
        std::pair{"PRAGMA foreign_keys = OFF; DROP TABLE device", "no such table: device"},
        std::pair{"ALTER TABLE overhead RENAME COLUMN api TO call", "no such column: api"},
        std::pair{"PRAGMA foreign_keys = OFF; DROP TABLE iteration", "no such table: "}}) {
    const std::string file = trace("lacking.sonde");
    auto lacking = test::must(store::Database::open(file, store::Access::ReadWrite));
    test::must(lacking.exec(change));
    for (const auto& call : {std::vector<std::string>{"report", file},
                             {"breakdown", file},
                             {"diff", file, other},
                             {"report", other, file},
                             {"merge", "-o", folder_ / "job.sonde", file, other}}) {
      SCOPED_TRACE(call.front() + " after " + change);
      const Finished finished = sonde(call);
      expectRefusal(finished, call.front(), 3);
      EXPECT_THAT(finished.err, HasSubstr("'" + file + "' is damaged (" + what));
      EXPECT_THAT(finished.err, Not(HasSubstr("SELECT")));
    }
    fs::remove(file);
  }
  const Finished asked = sonde({"sql", other, "SELECT * FROM overhed"});
  expectRefusal(asked, "sql", 2);
  EXPECT_THAT(asked.err, HasSubstr("'SELECT * FROM overhed': no such table: overhed"));
}

TEST_F(Refusals, APipeIsNoTrace) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string verb : {"breakdown", "report", "check"}) {
    const Finished finished = sonde({verb, pipe});
    expectRefusal(finished, verb, 3);
    EXPECT_THAT(finished.err, HasSubstr("'" + pipe + "' is not a regular file"));
  }
}

TEST_F(Refusals, ANumberThatIsNotAboveZeroIsNamed) {
  for (const auto& words :
       {std::vector<std::string>{"report", trace(), "--peak-flops"}, {"calibrate", "--precision"}})
    for (const char* number : {"0", "-1", "nan", "inf", "much"}) {
      std::vector<std::string> call = words;
      call.emplace_back(number);
      const Finished finished = sonde(call);
      expectRefusal(finished, call.front(), 2);
      EXPECT_THAT(finished.err,
                  HasSubstr("'" + std::string(number) + "' is not a number above 0: "));
      fs::remove(folder_ / "t.sonde");
    }
}

// A trace of Sonde is not another profiler's file, and the other way round.
TEST_F(Refusals, ATraceIsNotImported) {
  const Finished finished = sonde({"import", "-o", folder_ / "out.sonde", trace()});
  expectRefusal(finished, "import", 3);
  EXPECT_THAT(finished.err, HasSubstr("is a Sonde trace: join traces with 'sonde merge'"));
}

TEST_F(Refusals, AnUnfinishedTraceIsNamedByWhatItWillBe) {
  fs::rename(trace(), folder_ / "k.sonde.part");
  const Finished finished = sonde({"report", folder_ / "k.sonde"});
  expectRefusal(finished, "report", 3);
  EXPECT_EQ(finished.err,
            "sonde report: '" + folder_ / "k.sonde" +
                "' is not finished: finish it with 'sonde recover', or read '" +
                folder_ / "k.sonde.part" + "' as it is\n");
}

TEST_F(Refusals, AReaderThatHasGoneAwayIsNoError) {
  const Finished finished = runProgram(
      {"sh",
       "-c",
       R"(trap '' PIPE; { "$0" sql "$1" 'SELECT * FROM slice, scalar'; echo "$?" >&2; } | true)",
       SONDE_PROGRAM,
       trace()});
  EXPECT_EQ(finished.err, "0\n");
}

TEST_F(Refusals, AFormatThatThereIsNotIsNamedWithThoseThatThereAre) {
  const std::string file = trace();
  for (const char* word : {"xml", "2", ""}) {
    const Finished report = sonde({"report", file, "--format", word});
    expectRefusal(report, "report", 2);
    EXPECT_THAT(report.err,
                HasSubstr("there is no format '" + std::string(word) +
                          "': use table, json, csv or html: see"));
    const Finished check = sonde({"check", file, "--format", word});
    expectRefusal(check, "check", 2);
    EXPECT_THAT(check.err, HasSubstr("use text, json, junit, sarif or github: see"));
  }
}

TEST_F(Refusals, NoOtherFileIsAttached) {
  const std::string file = trace();
  const std::string other = folder_ / "other.db";
  for (const std::string& statement :
       {"ATTACH '" + other + "' AS other", std::string("DETACH main")}) {
    const Finished finished = sonde({"sql", file, statement});
    expectRefusal(finished, "sql", 2);
    EXPECT_THAT(finished.err, HasSubstr("give a SELECT"));
  }
  EXPECT_FALSE(fs::exists(other));
}

TEST_F(Refusals, WhatIsNoSessionIsNotRecovered) {
  test::writeText(folder_ / "notes.txt", "no spool");
  test::writeText(folder_ / "broken.spool", "no spool either");
  fs::create_directory(folder_ / "empty");
  const std::string out = folder_ / "out.sonde";
  for (const char* name : {"notes.txt", "broken.spool", "empty", "missing"}) {
    for (const bool elsewhere : {false, true}) {
      SCOPED_TRACE(name);
      std::vector<std::string> words = {"recover", folder_ / name};
      if (elsewhere)
        words.insert(words.end(), {"-o", out});
      const Finished finished = sonde(words);
      expectRefusal(finished, "recover", 3);
      EXPECT_THAT(finished.err, HasSubstr("name the folder of --spool"));
      EXPECT_FALSE(fs::exists(out) || fs::exists(out + ".part"));
    }
  }
}

}  // namespace
}  // namespace sonde::cli
