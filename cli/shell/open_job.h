// TRACE… of a verb as one database: a single trace as it lies, several merged into a temporary file
// first. Owned by the verb, on its thread.
#pragma once

#include "analysis/store/database.h"
#include "analysis/store/scratch.h"
#include "base/result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sonde::cli {

// Neither a trace nor what is one's `.part` may be written over. InvalidArgument: it would be.
Result<void> checkApart(const std::string& output, const std::vector<std::string>& traces);

class Job {
 public:
  // Errors say which file and what to do.
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
  std::filesystem::path temporary_;          // a folder of its own; empty: none
  std::unique_ptr<store::Scratch> scratch_;  // what is in it
};

}  // namespace sonde::cli
