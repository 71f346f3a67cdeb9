// Imports an Nsight Systems export that a test makes.
#pragma once

#include "analysis/ingest/nsight/nsight_importer.h"
#include "tests/ingest/import/import_fixture.h"
#include "tests/support/nsight_export.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

namespace sonde::ingest {

// The SQL that names a kernel's columns for a row of text.
inline constexpr const char* kKernelRow =
    "SELECT n.text || '|' || d.ordinal || '|' || r.number || '|' || k.start_ns || '|' || k.dur_ns "
    "|| '|' || coalesce(ln.text, '-') || '|' || coalesce(sn.text, '-') AS concat_row FROM kernel k "
    "JOIN string n ON n.id = k.name_id JOIN stream r ON r.id = k.stream_id "
    "JOIN device d ON d.id = r.device_id LEFT JOIN slice l ON l.id = k.launch_slice_id "
    "LEFT JOIN string ln ON ln.id = l.name_id LEFT JOIN slice s ON s.id = k.scope_id "
    "LEFT JOIN string sn ON sn.id = s.name_id ORDER BY k.start_ns";

class NsightImporterTest : public ImportTest {
 protected:
  std::string path() const { return folder_ / "report1.sqlite"; }
  test::NsightExport& make(const test::NsightVersion& version = test::kNsightVersions[1]) {
    std::filesystem::remove(path());
    return file_.emplace(path(), version);
  }
  Result<void> import() {
    file_.reset();
    return importFiles({path()});
  }
  void mustImport() {
    const auto imported = import();
    ASSERT_TRUE(imported) << imported.error().message;
  }

  std::optional<test::NsightExport> file_;
};

}  // namespace sonde::ingest
