// Turns a handmade spool file into a trace, for tests of the rows from records. One thread.
#pragma once

#include "analysis/ingest/spool/image_builder.h"
#include "recorder/spool_file/spool_reader.h"
#include "tests/support/run_program.h"
#include "tests/support/spool_builder.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sonde::test {

class IngestRig {
 public:
  explicit IngestRig(std::int64_t epochNs = 0);

  // Stores the content of the spool and closes the image. Its process was last seen at `seenNs`, or
  // at its last record if that is later.
  void ingest(SpoolBuilder& spool, std::int64_t seenNs = 0);
  void ingest(recorder::SpoolReader& reader, std::int64_t seenNs = 0);
  // The work of a recorder between two commits.
  void transaction(const std::function<void(ingest::RowSink&)>& work);
  // The row of a process without a spool.
  model::ProcessId process();
  // Columns of each row, joined by "|"; NULL is "-".
  std::vector<std::string> rows(const std::string& sql);
  const ingest::ImageCounts& counts() const { return counts_; }

 private:
  TemporaryFolder folder_;
  std::int64_t epochNs_;
  std::unique_ptr<store::TraceWriter> writer_;
  std::unique_ptr<ingest::RowSink> sink_;
  ingest::ImageCounts counts_;
};

std::vector<std::string> readRows(const store::Database& trace, const std::string& sql);

}  // namespace sonde::test
