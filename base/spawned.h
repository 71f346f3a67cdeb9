// Starts programs and waits for them. One at a time in a process; any thread.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sonde {

// Runs `program` with `words` (its own name first) to its end and returns its wait status. It has
// no input; its stdout is discarded, its stderr goes to `errors`. An interrupt of the caller ends
// the program instead; the caller sees a program ended by a signal. Io: it cannot be started; the
// message is the system's.
Result<int> runToItsEnd(const std::filesystem::path& program,
                        const std::vector<std::string>& words,
                        const std::filesystem::path& errors);

// A folder that is removed with its content when its owner is destroyed.
class TemporaryFolder {
 public:
  // In the system's temporary folder. Io: it cannot be created.
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path);

  std::filesystem::path path_;  // empty: moved away
};

}  // namespace sonde
