// Trace Event files for tests of their import, and the import of texts.
#pragma once

#include "tests/ingest/import/import_fixture.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::ingest {

// The start of a file, as kineto writes it; the events and the end follow.
inline constexpr const char* kHead = R"({"schemaVersion": 1, "traceEvents": [)";

inline std::string spanOf(const std::string& category,
                          const std::string& name,
                          const std::string& times,
                          const std::string& args = "{}") {
  return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
         R"(", "pid": 100, "tid": 101, )" + times + R"(, "args": )" + args + "}";
}

class TraceEventImporterTest : public ImportTest {
 protected:
  // Imports the texts, as files of one job.
  Result<void> import(const std::vector<std::string>& texts) {
    std::vector<std::filesystem::path> files;
    for (std::size_t index = 0; index < texts.size(); ++index) {
      files.emplace_back(folder_ / ("rank" + std::to_string(index) + ".json"));
      test::writeText(files.back().string(), texts[index]);
    }
    return importFiles(files);
  }
  void importEvents(const std::vector<std::string>& events, const std::string& tail = "]}") {
    std::string text = kHead;
    for (const std::string& event : events)
      text += (text.back() == '[' ? "" : ",\n") + event;
    const auto imported = import({text + tail});
    ASSERT_TRUE(imported) << imported.error().message;
  }
};

// An event of `phase` at a thread of process 100.
inline std::string eventOf(char phase, const std::string& name, const std::string& rest) {
  return std::string(R"({"ph": ")") + phase + R"(", "cat": "c", "name": ")" + name +
         R"(", "pid": 100, "tid": 101, )" + rest + "}";
}

}  // namespace sonde::ingest
