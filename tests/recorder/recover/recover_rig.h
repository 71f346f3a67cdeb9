// Each test has its own session whose recorder was killed.
#pragma once

#include "analysis/store/trace_file.h"
#include "recorder/recover/recover.h"
#include "recorder/spool/find_session.h"
#include "recorder/spool/manifest.h"
#include "recorder/spool/spool_lock.h"
#include "tests/support/ingest_rig.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sonde::recorder {

class RecoverTest : public testing::Test {
 protected:
  RecoverTest() {
    std::filesystem::create_directories(session());
    Manifest manifest;
    manifest.session = session().filename();
    manifest.output = output();
    manifest.part = part();
    manifest.launcherPid = 1 << 22;  // higher than any pid
    manifest.bootId = currentBootId();
    EXPECT_TRUE(writeManifest(session(), manifest));
  }
  std::filesystem::path place() const { return folder_.path() / "place"; }
  std::filesystem::path session() const {
    return place() / ("sonde-" + std::to_string(::geteuid())) / "4194304-abc";
  }
  std::filesystem::path part() const { return folder_.path() / "out.sonde.part"; }
  std::filesystem::path output() const { return folder_.path() / "out.sonde"; }

  // A killed recorder: it has stored the first call, but not the second.
  test::SpoolBuilder recordedByHalf() {
    test::SpoolBuilder spool(::getpid());
    spool.header().startTime = processStartTime(::getpid());
    spool.call(0, wire::SliceKind::Api, "stored", 1000, 1100);
    spool.write(session());
    drainer()->drainOnce();
    spool.call(0, wire::SliceKind::Api, "left", 1200, 1300);
    spool.rewrite(session());
    return spool;
  }
  std::unique_ptr<Drainer> drainer(bool keepSpool = false) {
    DrainerOptions options;
    options.folder = session();
    options.part = part();
    options.keepSpool = keepSpool;
    auto drainer = Drainer::open(options);
    EXPECT_TRUE(drainer);
    return *std::move(drainer);
  }
  std::vector<std::string> names(const std::filesystem::path& trace) {
    auto database = store::openTrace(trace);
    EXPECT_TRUE(database) << database.error().message;
    return test::readRows(
        *database, "SELECT text FROM slice JOIN string s ON s.id = name_id ORDER BY start_ns");
  }

  test::TemporaryFolder folder_;
  RecoverOptions options_;
};

}  // namespace sonde::recorder
