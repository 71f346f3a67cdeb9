// Opens TRACE… of a verb as one database: a single trace directly, several after merging them into
// a temporary file. Owned by the verb, on its thread.
#pragma once

#include "analysis/store/database.h"
#include "analysis/store/scratch.h"
#include "base/result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sonde::cli {

// InvalidArgument: `output` would overwrite a trace or its `.part`.
Result<void> checkApart(const std::string& output, const std::vector<std::string>& traces);

class Job {
 public:
  // Errors name the file and the remedy.
  static Result<Job> open(const char* verb, const std::vector<std::string>& traces);

  Job(Job&& other) noexcept;
  Job& operator=(Job&&) = delete;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();  // removes the temporary file

  store::Database& database() noexcept { return database_; }

 private:
  explicit Job(store::Database database) noexcept;

  store::Database database_;
  std::filesystem::path temporary_;          // a separate folder; empty: none
  std::unique_ptr<store::Scratch> scratch_;  // removes its content
};

}  // namespace sonde::cli
