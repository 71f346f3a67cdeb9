// Tests of finished traces: each in a folder of its own.
#pragma once

#include "analysis/finalise/finaliser.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_writer.h"
#include "tests/store/sample_trace.h"
#include "tests/store/temporary_folder.h"

namespace sonde::store {

class FinishedTrace : public TemporaryFolder {
 protected:
  // Five iterations, under this name.
  std::filesystem::path finished(const std::string& name) {
    auto trace = createTrace(file(name));
    auto writer = TraceWriter::open(std::move(*trace));
    EXPECT_TRUE(writeSample(*writer, 5));
    EXPECT_TRUE(finalise(*TraceWriter::release(std::move(*writer))));
    return file(name);
  }
};

}  // namespace sonde::store
