// A TraceReader over synthetic traces, for tests.
#pragma once

#include "gui/trace/trace_reader.h"

#include <QTemporaryDir>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::gui::testing {

class TraceReaderTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const char* name) const {
    return folder_.filePath(name).toStdString();
  }

  const Skeleton& open(const std::string& path) {
    auto read = reader_.open({QString::fromStdString(path)});
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    if (read)
      skeleton_ = *read;
    return skeleton_;
  }

  // The blocks of track 0.
  std::vector<Block> blocks(std::int64_t begin, std::int64_t end, double nsPerPixel) {
    const auto reply = reader_.window({begin, end, nsPerPixel, {0}}, never_);
    EXPECT_TRUE(reply);
    return reply ? reply->tracks.at(0).blocks : std::vector<Block>();
  }

  QTemporaryDir folder_;
  Cancellation never_;
  TraceReader reader_;
  Skeleton skeleton_;
};

}  // namespace sonde::gui::testing
