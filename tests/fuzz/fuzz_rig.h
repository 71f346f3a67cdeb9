// The common part of the fuzzers: a trace in memory that every try starts anew, and a file with
// libFuzzer's input. For one thread.
#pragma once

#include "analysis/store/trace_file.h"
#include "analysis/store/trace_writer.h"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace sonde::fuzz {

// Aborts on a failure of a step that must succeed for any input: this is a finding.
template <typename T>
T must(Result<T> result) {
  if (!result)
    std::abort();
  return *std::move(result);
}

inline void must(const Result<void>& result) {
  if (!result)
    std::abort();
}

class Rig {
 public:
  Rig()
      : folder_(std::filesystem::path("/dev/shm") / ("sonde-fuzz-" + std::to_string(::getpid()))),
        writer_((std::filesystem::create_directories(folder_),
                 must(store::TraceWriter::open(must(store::createTrace(folder_ / "t.sonde")))))) {}
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig() { std::filesystem::remove_all(folder_); }

  // Calls `import` with the writer, in a transaction that stores nothing, and a file of these
  // bytes.
  template <typename Import>
  void run(const std::uint8_t* data, std::size_t size, Import import) {
    const std::filesystem::path file = folder_ / "rank0";
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    must(writer_.begin());
    const auto imported = import(writer_, file);
    if (!imported && imported.error().message.empty())
      std::abort();
    must(writer_.rollback());
  }

  const std::filesystem::path& folder() const noexcept { return folder_; }

 private:
  std::filesystem::path folder_;
  store::TraceWriter writer_;
};

}  // namespace sonde::fuzz
