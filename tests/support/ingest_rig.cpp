#include "tests/support/ingest_rig.h"

#include "analysis/store/trace_file.h"

#include <gtest/gtest.h>

namespace sonde::test {

IngestRig::IngestRig(std::int64_t epochNs) : epochNs_(epochNs) {
  auto database = store::createTrace(folder_ / "trace.sonde");
  EXPECT_TRUE(database);
  auto writer = store::TraceWriter::open(*std::move(database));
  EXPECT_TRUE(writer);
  writer_ = std::make_unique<store::TraceWriter>(*std::move(writer));
  auto sink = ingest::RowSink::open(*writer_);
  EXPECT_TRUE(sink);
  sink_ = std::make_unique<ingest::RowSink>(*std::move(sink));
}

void IngestRig::ingest(SpoolBuilder& spool, std::int64_t seenNs) {
  auto reader = recorder::SpoolReader::open(spool.write(folder_.path()),
                                            recorder::SpoolReader::Access::ReadOnly);
  ASSERT_TRUE(reader) << reader.error().message;
  ingest(*reader, seenNs);
}

void IngestRig::ingest(recorder::SpoolReader& reader, std::int64_t seenNs) {
  ASSERT_TRUE(writer_->begin());
  ingest::ProcessRow process;
  process.row.hostId = sink_->add(model::Host{.id = {}, .name = "host"});
  process.row.pid = reader.identity().pid;
  process.row.startNs = 0;
  ingest::ImageBuilder builder(*sink_, {nullptr, epochNs_}, reader.path().filename(), process, 0);
  builder.begin();
  reader.newDefinitions([&](std::span<const std::byte> definition) { builder.define(definition); });
  builder.definitionsDone();
  for (const recorder::SpoolSlot& slot : reader.snapshot()) {
    const auto records = reader.readRecords(slot, 0);
    builder.openSlot(slot.thread, reader.readScopes(slot), slot.claimTicks, records);
    builder.addRecords(slot.thread, records);
  }
  std::vector<ingest::ImageBuilder::OpenRecord> calls;
  for (const recorder::SpoolReader::OpenCalls& thread : reader.openCalls())
    for (const std::vector<std::byte>& record : thread.records)
      calls.push_back({thread.thread, record});
  builder.noteOpen(calls, seenNs, true);
  builder.finish(reader.losses(), reader.pluginLosses(), {});
  ASSERT_FALSE(sink_->failed()) << sink_->failure().message;
  ASSERT_TRUE(writer_->commit());
  counts_ = builder.counts();
}

void IngestRig::transaction(const std::function<void(ingest::RowSink&)>& work) {
  ASSERT_TRUE(writer_->begin());
  work(*sink_);
  ASSERT_FALSE(sink_->failed()) << sink_->failure().message;
  ASSERT_TRUE(writer_->commit());
}

model::ProcessId IngestRig::process() {
  model::ProcessId id{};
  transaction([&](ingest::RowSink& sink) {
    model::Process row;
    row.hostId = sink.add(model::Host{.id = {}, .name = "host"});
    row.pid = 1;
    id = sink.add(row);
  });
  return id;
}

std::vector<std::string> IngestRig::rows(const std::string& sql) {
  return readRows(writer_->database(), sql);
}

std::vector<std::string> readRows(const store::Database& trace, const std::string& sql) {
  std::vector<std::string> rows;
  auto statement = trace.prepare(sql);
  EXPECT_TRUE(statement) << statement.error().message;
  if (!statement)
    return rows;
  for (;;) {
    const auto more = statement->step();
    EXPECT_TRUE(more) << more.error().message;
    if (!more || !*more)
      return rows;
    std::string row;
    for (int column = 0; column < statement->columnCount(); ++column) {
      if (column > 0)
        row += '|';
      row += statement->isNull(column) ? "-" : std::string(statement->text(column));
    }
    rows.push_back(row);
  }
}

}  // namespace sonde::test
