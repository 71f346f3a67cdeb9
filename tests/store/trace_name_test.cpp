#include "analysis/store/trace_name.h"

#include "analysis/store/trace_file.h"
#include "analysis/store/trace_writer.h"
#include "tests/store/expect_result.h"
#include "tests/store/finished_trace.h"

#include <fstream>

namespace sonde::store {
namespace {

namespace fs = std::filesystem;

class TraceName : public FinishedTrace {
 protected:
  // Leaves the files of a killed writer at `path`, including the log.
  void unfinished(const fs::path& path) {
    ASSERT_GOOD_ASSIGN(const Database live, createTrace(file("live")));
    for (const char* suffix : {"", "-wal"})
      fs::copy_file(file("live").string() + suffix, path.string() + suffix);
    ASSERT_GT(fs::file_size(path.string() + "-wal"), 0U);
  }
};

TEST_F(TraceName, ALogOfAnEarlierFileIsNotPlayedIntoTheNewOne) {
  const fs::path output = file("out.sonde");
  unfinished(output);
  ASSERT_GOOD(renameTrace(finished("new.part"), output, true));
  EXPECT_FALSE(fs::exists(output.string() + "-wal"));
  ASSERT_GOOD_ASSIGN(const Database trace, openTrace(output));
  ASSERT_GOOD_ASSIGN(const bool complete, isFinished(trace));
  EXPECT_TRUE(complete);
  ASSERT_GOOD_ASSIGN(const std::string verdict, trace.queryText("PRAGMA integrity_check"));
  EXPECT_EQ(verdict, "ok");
}

TEST_F(TraceName, ALogThatHasLostItsFileIsNotPlayedEither) {
  const fs::path output = file("out.sonde");
  unfinished(output);
  fs::remove(output);
  ASSERT_GOOD(renameTrace(finished("new.part"), output, false));
  EXPECT_FALSE(fs::exists(output.string() + "-wal"));
}

TEST_F(TraceName, WhatExistsStaysWholeUnlessReplaced) {
  const fs::path output = file("out.sonde");
  unfinished(output);
  const auto refused = renameTrace(finished("new.part"), output, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_TRUE(fs::exists(output.string() + "-wal"));
  EXPECT_TRUE(fs::exists(file("new.part")));
}

TEST_F(TraceName, ADeviceAFolderAndAnOpenFilesNameAreNeverReplaced) {
  const fs::path trace = finished("new.part");
  for (const fs::path& name :
       {fs::path("/dev/null"), fs::path("/dev/stdout"), trace.parent_path()}) {
    const auto refused = checkOutput(name, true);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(refused.error().message.find("not a file that can be replaced"), std::string::npos);
  }
  fs::create_directory(file("folder"));
  EXPECT_FALSE(renameTrace(trace, file("folder"), true));
  EXPECT_TRUE(fs::is_directory(file("folder")));
}

TEST_F(TraceName, TheNameOfARecordingIsNotTakenByAnotherVerb) {
  const fs::path part = finished("out.sonde.part");
  ASSERT_GOOD(checkOutput(file("out.sonde"), true));
  {
    ASSERT_GOOD_ASSIGN(Database trace, Database::open(part, Access::ReadWrite));
    ASSERT_GOOD(trace.exec("INSERT INTO meta VALUES ('session', '1-abc')"));
  }
  const auto refused = checkOutput(file("out.sonde"), true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_NE(refused.error().message.find("is a recording that is running"), std::string::npos);
}

TEST_F(TraceName, ARecordingThatCannotBeReadNowIsKnownByItsLog) {
  std::ofstream(file("out.sonde.part")) << "no trace";
  ASSERT_GOOD(checkOutput(file("out.sonde"), true));
  std::ofstream(file("out.sonde.part-journal")) << "a log";
  EXPECT_FALSE(checkOutput(file("out.sonde"), true));
}

TEST_F(TraceName, RemovesATraceWithItsLogs) {
  unfinished(file("old"));
  removeTrace(file("old"));
  EXPECT_FALSE(fs::exists(file("old")));
  EXPECT_FALSE(fs::exists(file("old-wal")));
  removeTrace(file("old"));
}

TEST_F(TraceName, SaysWhyItCannotRename) {
  const auto refused = renameTrace(finished("new.part"), file("no/such/folder"), false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Io);
}

}  // namespace
}  // namespace sonde::store
