// A spool file, made by hand, turned into a trace: for tests of what records become. One thread.
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

  // Stores all that the spool holds and closes the image, whose process was last seen at `seenNs`
  // or, if that is later, when it recorded something.
  void ingest(SpoolBuilder& spool, std::int64_t seenNs = 0);
  void ingest(recorder::SpoolReader& reader, std::int64_t seenNs = 0);
  // What a recorder does between two commits.
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
