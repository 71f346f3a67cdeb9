#include "analysis/store/trace_file.h"

#include "analysis/store/schema.h"
#include "analysis/store/trace_writer.h"
#include "tests/store/expect_result.h"
#include "tests/store/finished_trace.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace sonde::store {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class TraceFile : public FinishedTrace {
 protected:
  static void expectError(const Result<Database>& opened,
                          ErrorCode code,
                          const std::string& words) {
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, code);
    EXPECT_THAT(opened.error().message, AllOf(HasSubstr(words), HasSubstr("'")));
  }
};

TEST_F(TraceFile, CreatesADatabaseThatOthersRecognise) {
  ASSERT_GOOD_ASSIGN(Database trace, createTrace(file("a.part")));
  ASSERT_GOOD_ASSIGN(const auto application, trace.queryInteger("PRAGMA application_id"));
  EXPECT_EQ(application, 0x534F4E44);
  ASSERT_GOOD_ASSIGN(const auto version, trace.queryInteger("PRAGMA user_version"));
  EXPECT_EQ(version, kSchemaVersion);
  ASSERT_GOOD_ASSIGN(const auto mode, trace.queryText("PRAGMA journal_mode"));
  EXPECT_EQ(mode, "wal");
}

TEST_F(TraceFile, DoesNotOverwrite) {
  std::ofstream(file("there")) << "precious";
  expectError(createTrace(file("there")), ErrorCode::InvalidArgument, "exists");
  EXPECT_EQ(fs::file_size(file("there")), 8U);
}

TEST_F(TraceFile, SaysThatAFileIsMissing) {
  expectError(openTrace(file("none.sonde")), ErrorCode::NotFound, "does not exist");
}

TEST_F(TraceFile, RefusesAFolder) {
  fs::create_directory(file("folder"));
  expectError(openTrace(file("folder")), ErrorCode::Corrupt, "folder");
}

TEST_F(TraceFile, RefusesAnEmptyFile) {
  std::ofstream(file("empty.sonde")).flush();
  expectError(openTrace(file("empty.sonde")), ErrorCode::Corrupt, "empty");
}

TEST_F(TraceFile, RefusesText) {
  std::ofstream(file("text.sonde")) << std::string(4000, 'x');
  expectError(openTrace(file("text.sonde")), ErrorCode::Corrupt, "not a Sonde trace");
  std::ofstream(file("short.sonde")) << "x";
  expectError(openTrace(file("short.sonde")), ErrorCode::Corrupt, "not a Sonde trace");
}

TEST_F(TraceFile, RefusesAnotherProgramsDatabase) {
  {
    ASSERT_GOOD_ASSIGN(Database other, Database::open(file("other.db"), Access::Create));
    ASSERT_GOOD(other.exec("CREATE TABLE bookmarks(url)"));
  }
  expectError(
      openTrace(file("other.db")), ErrorCode::Corrupt, "SQLite database but not a Sonde trace");
}

TEST_F(TraceFile, NamesTheSondeThatANewerSchemaNeeds) {
  const fs::path path = finished("new.sonde");
  {
    ASSERT_GOOD_ASSIGN(Database trace, Database::open(path, Access::ReadWrite));
    ASSERT_GOOD(trace.exec(
        "PRAGMA user_version = 99; UPDATE meta SET value = '42.0' WHERE key = 'sonde_version'"));
  }
  expectError(openTrace(path), ErrorCode::Unsupported, "use Sonde 42.0 or newer");
}

TEST_F(TraceFile, RefusesATruncatedFileOfAnySize) {
  const fs::path path = finished("cut.sonde");
  const auto whole = fs::file_size(path);
  ASSERT_GOOD(openTrace(path));
  for (const auto size : {whole - 1,
                          whole - 8192,
                          whole / 2,
                          std::uintmax_t{8192},
                          std::uintmax_t{100},
                          std::uintmax_t{99}}) {
    fs::resize_file(path, size);
    const auto opened = openTrace(path);
    ASSERT_FALSE(opened) << size;
    EXPECT_EQ(opened.error().code, ErrorCode::Corrupt) << size;
  }
}

TEST_F(TraceFile, SaysThatAScribbledOnFileIsDamaged) {
  const fs::path path = finished("scribbled.sonde");
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file << std::string(4000, '\xff');
  }
  expectError(openTrace(path), ErrorCode::Corrupt, "damaged");
}

TEST_F(TraceFile, OpensAnUnfinishedRecordingReadOnly) {
  ASSERT_GOOD_ASSIGN(Database recording, createTrace(file("a.part")));
  ASSERT_GOOD_ASSIGN(TraceWriter writer, TraceWriter::open(std::move(recording)));
  ASSERT_GOOD(writeSample(writer, 3));
  ASSERT_GOOD_ASSIGN(Database reader, openTrace(file("a.part")));
  ASSERT_GOOD_ASSIGN(const bool done, isFinished(reader));
  EXPECT_FALSE(done);
  ASSERT_GOOD_ASSIGN(const auto iterations,
                     reader.queryInteger("SELECT count(*) FROM v_iteration"));
  EXPECT_EQ(iterations, 6);
  EXPECT_FALSE(reader.exec("DELETE FROM slice"));
}

// Runs as a user without rights during its lifetime, even if root runs the test.
class WithoutRights {
 public:
  WithoutRights() {
    if (geteuid() == 0) {
      EXPECT_EQ(seteuid(kNobody), 0);
    }
  }
  ~WithoutRights() {
    if (getuid() == 0) {
      EXPECT_EQ(seteuid(0), 0);
    }
  }
  WithoutRights(const WithoutRights&) = delete;
  WithoutRights& operator=(const WithoutRights&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
};

TEST_F(TraceFile, OpensARecordingInAFolderThatCannotBeWritten) {
  {
    ASSERT_GOOD_ASSIGN(Database recording, createTrace(file("a.part")));
    ASSERT_GOOD_ASSIGN(TraceWriter writer, TraceWriter::open(std::move(recording)));
    ASSERT_GOOD(writeSample(writer, 3));
  }
  const fs::path folder = file("a.part").parent_path();
  const auto readable = static_cast<fs::perms>(0555);
  fs::permissions(folder, readable);
  Result<std::int64_t> iterations = 0;
  {
    const WithoutRights nobody;
    if (auto trace = openTrace(file("a.part")); trace)
      iterations = trace->queryInteger("SELECT count(*) FROM iteration");
    else
      iterations = trace.error();
  }
  fs::permissions(folder, fs::perms::owner_all);
  ASSERT_GOOD(iterations);
  EXPECT_EQ(*iterations, 6);
}

TEST_F(TraceFile, BeginsAnewWhereCreationWasCutOff) {
  {
    ASSERT_GOOD_ASSIGN(Database cut, Database::open(file("cut.part"), Access::Create));
    ASSERT_GOOD(cut.exec("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL"));
  }
  ASSERT_GOOD_ASSIGN(Database trace, reopenTrace(file("cut.part")));
  ASSERT_GOOD(trace.queryInteger("SELECT count(*) FROM slice"));
  ASSERT_GOOD_ASSIGN(const auto version, trace.queryInteger("PRAGMA user_version"));
  EXPECT_EQ(version, kSchemaVersion);
}

TEST_F(TraceFile, DoesNotGoOnWritingIntoAnotherDatabase) {
  {
    ASSERT_GOOD_ASSIGN(Database other, Database::open(file("other.db"), Access::Create));
    ASSERT_GOOD(other.exec("CREATE TABLE bookmarks(url)"));
  }
  const auto opened = reopenTrace(file("other.db"));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Corrupt);
  ASSERT_FALSE(reopenTrace(file("none.part")));
}

// Copies a database and its rollback journal in the state of a writer killed during a commit.
void copyAsIfKilled(const fs::path& from, const fs::path& to) {
  ASSERT_GOOD_ASSIGN(Database writer, Database::open(from, Access::ReadWrite));
  ASSERT_GOOD(writer.exec(
      "PRAGMA cache_size = 5; BEGIN; UPDATE slice SET name_id = 77; DELETE FROM transfer;"
      "CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
      "WHERE i < 20000) SELECT i, hex(zeroblob(50)) FROM n"));
  fs::copy_file(from, to);
  fs::copy_file(from.string() + "-journal", to.string() + "-journal");
}

TEST_F(TraceFile, SaysThatItsFinisherWasKilledAndGoesOn) {
  const fs::path path = finished("whole.sonde");
  copyAsIfKilled(path, file("killed.part"));
  {
    // The first page, with the new size, is written before the additional pages.
    std::fstream database(file("killed.part"), std::ios::in | std::ios::out | std::ios::binary);
    database.seekp(28);
    database << std::string("\x00\x7f\xff\xff", 4);
  }
  expectError(openTrace(file("killed.part")), ErrorCode::Io, "run 'sonde recover'");
  {
    ASSERT_GOOD_ASSIGN(Database trace, reopenTrace(file("killed.part")));
    ASSERT_GOOD_ASSIGN(const auto renamed,
                       trace.queryInteger("SELECT count(*) FROM slice WHERE name_id = 77"));
    EXPECT_EQ(renamed, 0);
  }
  ASSERT_GOOD_ASSIGN(Database trace, openTrace(file("killed.part")));
  ASSERT_GOOD_ASSIGN(const auto verdict, trace.queryText("PRAGMA integrity_check"));
  EXPECT_EQ(verdict, "ok");
}

TEST_F(TraceFile, OddNamesAreNames) {
  const fs::path path = finished("50% of?mode=ro#all.sonde");
  EXPECT_TRUE(fs::exists(path));
  ASSERT_GOOD(openTrace(path));
}

}  // namespace
}  // namespace sonde::store
