// Imports files like `sonde import`, and queries the resulting trace.
#pragma once

#include "analysis/finalise/finaliser.h"
#include "analysis/ingest/import_job.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde::ingest {

class ImportTest : public ::testing::Test {
 protected:
  // Imports the files as one job.
  Result<void> importFiles(const std::vector<std::filesystem::path>& files) {
    const std::filesystem::path path = folder_ / "t.sonde";
    trace_.reset();
    std::filesystem::remove(path);
    SONDE_TRY_ASSIGN(ImportJob job, ImportJob::create(path, {}));
    job.setLayout(layout_);
    SONDE_TRY(job.add(files));
    summary_ = job.summary();
    SONDE_TRY_ASSIGN(store::Database trace, job.release());
    SONDE_TRY(store::finalise(std::move(trace)));
    SONDE_TRY_ASSIGN(store::Database opened, store::openTrace(path));
    trace_.emplace(std::move(opened));
    return {};
  }
  // The rows of a query with one column `concat_row`, joined by ' '.
  std::string rows(const std::string& sql) {
    auto statement = trace_->prepare(
        "SELECT group_concat(row, ' ') FROM (SELECT concat_row AS row FROM (" + sql + "))");
    if (!statement) {
      ADD_FAILURE() << statement.error().message;
      return "";
    }
    const auto more = statement->step();
    return more && *more ? std::string(statement->text(0)) : "";
  }

  test::TemporaryFolder folder_;
  std::optional<OperationLayout> layout_;
  ImportSummary summary_;
  std::optional<store::Database> trace_;
};

}  // namespace sonde::ingest
