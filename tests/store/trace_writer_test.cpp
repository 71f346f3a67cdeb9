#include "analysis/store/trace_writer.h"

#include "analysis/store/trace_file.h"
#include "tests/store/expect_result.h"
#include "tests/store/sample_trace.h"
#include "tests/store/temporary_folder.h"
#include "tests/support/file_limit.h"

#include <gmock/gmock.h>

#include <random>
#include <string>
#include <vector>

namespace sonde::store {
namespace {

class Writer : public TemporaryFolder {
 protected:
  TraceWriter created(const std::string& name) {
    auto trace = createTrace(file(name));
    EXPECT_TRUE(trace);
    return *TraceWriter::open(std::move(*trace));
  }
  TraceWriter reopened(const std::string& name) {
    auto trace = reopenTrace(file(name));
    EXPECT_TRUE(trace);
    return *TraceWriter::open(std::move(*trace));
  }
};

model::Slice randomSlice(std::mt19937_64& random) {
  const auto maybe = [&]() -> model::OptionalInt {
    return random() % 3 == 0 ? std::nullopt
                             : model::OptionalInt(static_cast<std::int64_t>(random()));
  };
  model::Slice slice;
  slice.threadId = model::ThreadId{static_cast<std::int64_t>(random() % 5 + 1)};
  slice.kind = static_cast<model::SliceKind>(random() % 19 + 1);
  slice.category = random() % 2 == 0 ? "nvtx" : "annotation";
  slice.nameId = model::StringId{static_cast<std::int64_t>(random() % 100 + 1)};
  slice.startNs = static_cast<std::int64_t>(random());
  slice.durNs = maybe();
  slice.parentId = model::SliceId{static_cast<std::int64_t>(random() % 3)};
  slice.depth = static_cast<std::int64_t>(random() % 9);
  slice.lane = static_cast<std::int64_t>(random() % 2);
  slice.scopeId = model::SliceId{static_cast<std::int64_t>(random() % 3)};
  slice.scopeHow = static_cast<model::ScopeHow>(random() % 3 + 1);
  slice.correlationId = maybe();
  return slice;
}

void expectRow(Statement& row, const model::Slice& slice, model::SliceId id) {
  EXPECT_EQ(row.id<model::SliceId>(0), id);
  EXPECT_EQ(row.id<model::ThreadId>(1), slice.threadId);
  EXPECT_EQ(row.text(2), model::word(slice.kind));
  EXPECT_EQ(row.text(3), slice.category);
  EXPECT_EQ(row.id<model::StringId>(4), slice.nameId);
  EXPECT_EQ(row.integer(5), slice.startNs);
  EXPECT_EQ(row.optionalInteger(6), slice.durNs);
  EXPECT_EQ(row.isNull(7), !slice.parentId);
  EXPECT_EQ(row.id<model::SliceId>(7), slice.parentId);
  EXPECT_EQ(row.integer(8), slice.depth);
  EXPECT_EQ(row.integer(9), slice.lane);
  EXPECT_EQ(row.id<model::SliceId>(10), slice.scopeId);
  EXPECT_EQ(row.text(11), model::word(slice.scopeHow));
  EXPECT_EQ(row.optionalInteger(12), slice.correlationId);
  EXPECT_TRUE(row.isNull(13));
}

TEST_F(Writer, RandomSlicesComeBackAsTheyWere) {
  TraceWriter writer = created("a.part");
  std::mt19937_64 random(7);
  std::vector<std::pair<model::SliceId, model::Slice>> added;
  ASSERT_GOOD(writer.begin());
  for (int i = 0; i < 2000; ++i) {
    model::Slice slice = randomSlice(random);
    if (random() % 4 == 0)
      slice.id = writer.reserveSliceId();
    ASSERT_GOOD_ASSIGN(const auto id, writer.add(slice));
    added.emplace_back(id, slice);
  }
  ASSERT_GOOD(writer.commit());
  ASSERT_GOOD_ASSIGN(Statement rows, writer.database().prepare("SELECT * FROM slice ORDER BY id"));
  for (const auto& [id, slice] : added) {
    ASSERT_GOOD_ASSIGN(const bool more, rows.step());
    ASSERT_TRUE(more);
    expectRow(rows, slice, id);
  }
  ASSERT_GOOD_ASSIGN(const bool more, rows.step());
  EXPECT_FALSE(more);
}

// CHECK constraints are off while recording. This test proves that the rows' types satisfy them.
TEST_F(Writer, EveryWordSatisfiesTheSchema) {
  TraceWriter writer = created("a.part");
  ASSERT_GOOD(writeSample(writer, 2));
  ASSERT_GOOD(writer.begin());
  for (std::uint8_t kind = 1; kind <= 19; ++kind)
    ASSERT_GOOD(writer.add(model::Slice{
        {}, model::ThreadId{1}, static_cast<model::SliceKind>(kind), "x", model::StringId{1}}));
  for (std::uint8_t how = 1; how <= 3; ++how) {
    model::Slice slice{{}, model::ThreadId{1}, model::SliceKind::Api, "x", model::StringId{1}};
    slice.scopeHow = static_cast<model::ScopeHow>(how);
    ASSERT_GOOD(writer.add(slice));
    ASSERT_GOOD(writer.add(model::Note{{}, {}, {}, static_cast<model::Severity>(how), "test", ""}));
  }
  for (std::uint8_t op = 1; op <= 15; ++op) {
    model::Collective collective;
    collective.processId = model::ProcessId{1};
    collective.op = static_cast<model::CollectiveOp>(op);
    ASSERT_GOOD(writer.add(collective));
  }
  for (std::uint8_t kind = 1; kind <= 5; ++kind) {
    ASSERT_GOOD(writer.add(model::Channel{
        {}, model::ProcessId{1}, static_cast<model::ChannelKind>(kind), "", "", {}, true, {}}));
    model::Process process;
    process.hostId = model::HostId{1};
    process.state = static_cast<model::ProcessState>(kind);
    ASSERT_GOOD(writer.add(process));
  }
  for (std::uint8_t owner = 1; owner <= 12; ++owner)
    ASSERT_GOOD(
        writer.add(model::Arg{static_cast<model::Owner>(owner), 1, model::StringId{1}, 1.5}));
  ASSERT_GOOD(writer.add(model::Link{"test", model::Owner::Slice, 1, model::Owner::Collective, 1}));
  ASSERT_GOOD(writer.commit());
  ASSERT_GOOD(writer.database().exec("PRAGMA ignore_check_constraints = OFF"));
  ASSERT_GOOD_ASSIGN(const auto verdict, writer.database().queryText("PRAGMA integrity_check"));
  EXPECT_EQ(verdict, "ok");
}

TEST_F(Writer, InternsATextOnceAlsoAfterReopening) {
  model::StringId first;
  {
    TraceWriter writer = created("a.part");
    ASSERT_GOOD(writer.begin());
    ASSERT_GOOD_ASSIGN(first, writer.intern("aten::mm"));
    ASSERT_GOOD_ASSIGN(const auto again, writer.intern("aten::mm"));
    ASSERT_GOOD_ASSIGN(const auto other, writer.intern("aten::add"));
    EXPECT_EQ(first, again);
    EXPECT_NE(first, other);
    ASSERT_GOOD(writer.commit());
  }
  TraceWriter writer = reopened("a.part");
  ASSERT_GOOD(writer.begin());
  ASSERT_GOOD_ASSIGN(const auto known, writer.intern("aten::mm"));
  EXPECT_EQ(known, first);
  ASSERT_GOOD_ASSIGN(const auto fresh, writer.intern("aten::relu"));
  EXPECT_GT(fresh.value, 2);
}

TEST_F(Writer, StoresOnlyProperText) {
  TraceWriter writer = created("a.part");
  ASSERT_GOOD(writer.begin());
  ASSERT_GOOD_ASSIGN(const auto id, writer.intern(std::string_view("a\xff\0b", 4)));
  ASSERT_GOOD_ASSIGN(const auto again,
                     writer.intern("a\xEF\xBF\xBD\xEF\xBF\xBD"
                                   "b"));
  EXPECT_EQ(id, again);
  ASSERT_GOOD(writer.add(model::Note{{}, {}, {}, model::Severity::Info, "test", "\xc3("}));
  ASSERT_GOOD_ASSIGN(const auto text, writer.database().queryText("SELECT text FROM note"));
  EXPECT_EQ(text, "\xEF\xBF\xBD(");
}

TEST_F(Writer, RollbackTakesBackRowsStringsAndIds) {
  TraceWriter writer = created("a.part");
  ASSERT_GOOD(writer.begin());
  ASSERT_GOOD(writer.intern("kept"));
  ASSERT_GOOD(writer.commit());
  ASSERT_GOOD(writer.begin());
  ASSERT_GOOD_ASSIGN(const auto lost, writer.intern("lost"));
  ASSERT_GOOD_ASSIGN(const auto host, writer.add(model::Host{{}, "lost"}));
  ASSERT_GOOD_ASSIGN(const auto stored,
                     writer.database().queryInteger("SELECT count(*) FROM host"));
  EXPECT_EQ(stored, 1);
  ASSERT_GOOD(writer.add(model::Host{{}, "lost before it was stored"}));
  ASSERT_GOOD(writer.rollback());
  ASSERT_GOOD(writer.begin());
  ASSERT_GOOD_ASSIGN(const auto other, writer.intern("other"));
  ASSERT_GOOD_ASSIGN(const auto again, writer.intern("lost"));
  EXPECT_EQ(other, lost);
  EXPECT_NE(again, lost);
  ASSERT_GOOD_ASSIGN(const auto next, writer.add(model::Host{{}, "next"}));
  EXPECT_EQ(next, host);
  ASSERT_GOOD(writer.commit());
  ASSERT_GOOD_ASSIGN(const auto hosts, writer.database().queryInteger("SELECT count(*) FROM host"));
  EXPECT_EQ(hosts, 1);
}

TEST_F(Writer, WhatWasNotCommittedIsGoneAndIdsOfOpenScopesAreNotGivenAgain) {
  model::SliceId open;
  {
    TraceWriter writer = created("a.part");
    ASSERT_GOOD(writer.begin());
    ASSERT_GOOD(writer.intern("name"));
    open = writer.reserveSliceId();
    const model::Slice slice{
        open, model::ThreadId{1}, model::SliceKind::Phase, "annotation", model::StringId{1}, 5};
    ASSERT_GOOD(writer.add(model::OpenScope{"one.spool", 9, slice}));
    ASSERT_GOOD(writer.add(model::Ingested{"one.spool", 3, 128}));
    ASSERT_GOOD(writer.add(model::Ingested{"one.spool", 3, 256}));
    ASSERT_GOOD(writer.commit());
    ASSERT_GOOD(writer.begin());
    ASSERT_GOOD(writer.add(model::Ingested{"one.spool", 3, 512}));
    ASSERT_GOOD_ASSIGN(const auto stored,
                       writer.database().queryInteger("SELECT consumed FROM ingested"));
    EXPECT_EQ(stored, 512);
    ASSERT_GOOD(writer.add(model::Ingested{"one.spool", 3, 1024}));
    ASSERT_GOOD(writer.dropOpenScope("one.spool", model::ThreadId{1}, 9));
  }
  TraceWriter writer = reopened("a.part");
  ASSERT_GOOD_ASSIGN(const auto consumed,
                     writer.database().queryInteger("SELECT consumed FROM ingested"));
  EXPECT_EQ(consumed, 256);
  ASSERT_GOOD_ASSIGN(
      const auto scopes,
      writer.database().queryInteger("SELECT slice_id FROM open_scope WHERE token = 9"));
  EXPECT_EQ(scopes, open.value);
  EXPECT_GT(writer.reserveSliceId(), open);
}

Error internUntilItFails(TraceWriter& writer) {
  for (int i = 0; i < 100'000; ++i)
    if (const auto id = writer.intern("text " + std::to_string(i) + std::string(200, '.')); !id)
      return id.error();
  ADD_FAILURE() << "it never failed";
  return {};
}

TEST_F(Writer, AFullDiskTakesBackTheTransactionAndNoMore) {
  TraceWriter writer = created("a.part");
  ASSERT_GOOD(writeSample(writer, 1));
  ASSERT_GOOD_ASSIGN(const auto pages, writer.database().queryInteger("PRAGMA page_count"));
  ASSERT_GOOD(writer.database().exec("PRAGMA max_page_count = " + std::to_string(pages + 4)));
  ASSERT_GOOD(writer.begin());
  EXPECT_EQ(internUntilItFails(writer).code, ErrorCode::NoSpace);
  ASSERT_GOOD(writer.rollback());
  ASSERT_GOOD(writer.database().exec("PRAGMA max_page_count = 1000000"));
  ASSERT_GOOD(writer.begin());
  ASSERT_GOOD_ASSIGN(const auto first, writer.intern("text 0" + std::string(200, '.')));
  ASSERT_GOOD(writer.commit());
  ASSERT_GOOD_ASSIGN(const auto last, writer.database().queryInteger("SELECT max(id) FROM string"));
  EXPECT_EQ(first.value, last);
  ASSERT_GOOD_ASSIGN(
      const auto texts,
      writer.database().queryInteger("SELECT count(*) FROM string WHERE text LIKE 'text %'"));
  EXPECT_EQ(texts, 1);
}

// On such an error SQLite itself rolls back: later rows must not be committed one by one.
TEST_F(Writer, AfterAFailureNothingIsStoredUntilRollback) {
  TraceWriter writer = created("a.part");
  ASSERT_GOOD(writeSample(writer, 1));
  ASSERT_GOOD(writer.foldLog());
  ASSERT_GOOD(writer.database().exec("PRAGMA cache_size = 8"));
  ASSERT_GOOD_ASSIGN(const auto processes,
                     writer.database().queryInteger("SELECT count(*) FROM process"));
  std::string message;
  {
    const test::FileLimit limit;
    limit.set(256 << 10);
    ASSERT_GOOD(writer.begin());
    const Error failure = internUntilItFails(writer);
    EXPECT_EQ(failure.code, ErrorCode::NoSpace);
    message = failure.message;
    EXPECT_TRUE(message.starts_with("cannot store rows of 'string': ")) << message;
  }
  EXPECT_FALSE(writer.database().inTransaction());
  EXPECT_TRUE(writer.failed());
  const auto told = [](const Result<void>& done) { return done ? "" : done.error().message; };
  EXPECT_EQ(told(writer.add(model::Ingested{"one.spool", 3, 512})), message);
  EXPECT_EQ(told(writer.update(model::Process{model::ProcessId{1}})), message);
  EXPECT_EQ(told(writer.dropOpenScope("one.spool", model::ThreadId{1}, 9)), message);
  EXPECT_EQ(told(writer.commit()), message);
  EXPECT_EQ(told(writer.begin()), message);
  ASSERT_GOOD(writer.rollback());
  EXPECT_FALSE(writer.failed());
  const auto count = [&](const char* table) {
    return *writer.database().queryInteger("SELECT count(*) FROM " + std::string(table));
  };
  EXPECT_EQ(count("ingested"), 0);
  EXPECT_EQ(count("string WHERE text LIKE 'text %'"), 0);
  EXPECT_EQ(count("process"), processes);
  ASSERT_GOOD(writer.begin());
  ASSERT_GOOD(writer.intern("later"));
  ASSERT_GOOD(writer.commit());
}

TEST_F(Writer, WhatFailsWhileItIsReadBackFailsTheCommit) {
  TraceWriter writer = created("a.part");
  ASSERT_GOOD(writer.begin());
  ASSERT_GOOD(writer.add(model::Host{model::HostId{1}, "one"}));
  ASSERT_GOOD(writer.add(model::Host{model::HostId{1}, "the same id"}));
  EXPECT_EQ(*writer.database().queryInteger("SELECT count(*) FROM ingested"), 0);
  EXPECT_TRUE(writer.failed());
  ASSERT_FALSE(writer.commit());
  EXPECT_FALSE(TraceWriter::release(std::move(writer)));
}

TEST_F(Writer, UpdatesARow) {
  TraceWriter writer = created("a.part");
  ASSERT_GOOD(writeSample(writer, 1));
  ASSERT_GOOD(writer.begin());
  model::Process process;
  process.id = model::ProcessId{2};
  process.hostId = model::HostId{1};
  process.pid = 7;
  process.state = model::ProcessState::Signalled;
  ASSERT_GOOD(writer.update(process));
  ASSERT_GOOD(writer.commit());
  ASSERT_GOOD_ASSIGN(
      Statement row,
      writer.database().prepare("SELECT pid, state, rank FROM process WHERE id = 2"));
  ASSERT_GOOD(row.step());
  EXPECT_EQ(row.integer(0), 7);
  EXPECT_EQ(row.text(1), "signalled");
  EXPECT_TRUE(row.isNull(2));
  ASSERT_GOOD_ASSIGN(const auto count,
                     writer.database().queryInteger("SELECT count(*) FROM process"));
  EXPECT_EQ(count, 2);
}

TEST_F(Writer, TakesUpWhatABulkCopyWrote) {
  TraceWriter source = created("source.part");
  ASSERT_GOOD(writeSample(source, 4));
  TraceWriter writer = created("target.part");
  ASSERT_GOOD(writer.database().exec("ATTACH '" + file("source.part").string() + "' AS source"));
  ASSERT_GOOD(writer.begin());
  ASSERT_GOOD(
      writer.database().exec("INSERT INTO string SELECT * FROM source.string; "
                             "INSERT INTO slice SELECT * FROM source.slice"));
  ASSERT_GOOD(writer.reload());
  ASSERT_GOOD_ASSIGN(const auto loss, writer.intern("loss"));
  ASSERT_GOOD(writer.commit());
  ASSERT_GOOD_ASSIGN(const auto slices,
                     writer.database().queryInteger("SELECT max(id) FROM slice"));
  EXPECT_EQ(writer.reserveSliceId().value, slices + 1);
  ASSERT_GOOD_ASSIGN(const auto text,
                     source.database().queryInteger("SELECT id FROM string WHERE text = 'loss'"));
  EXPECT_EQ(loss.value, text);
}

TEST_F(Writer, AReaderSeesWholeTransactionsWhileRowsAreWritten) {
  constexpr const char* kSamples = "SELECT count(*) FROM sample WHERE counter_id = 1";
  TraceWriter writer = created("a.part");
  ASSERT_GOOD(writeSample(writer, 1));
  ASSERT_GOOD_ASSIGN(Database reader, openTrace(file("a.part")));
  for (int round = 1; round <= 20; ++round) {
    ASSERT_GOOD(writer.begin());
    for (int i = 0; i < 50; ++i)
      ASSERT_GOOD(writer.add(model::Sample{model::CounterId{1}, i, 1.0}));
    ASSERT_GOOD_ASSIGN(const auto before, reader.queryInteger(kSamples));
    EXPECT_EQ(before, 1 + 50 * (round - 1));
    ASSERT_GOOD(writer.commit());
    ASSERT_GOOD_ASSIGN(const auto after, reader.queryInteger(kSamples));
    EXPECT_EQ(after, 1 + 50 * round);
  }
}

}  // namespace
}  // namespace sonde::store
