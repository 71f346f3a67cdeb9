// Programs that Sonde starts itself, and waits for. One at a time in a process; any thread.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sonde {

// Runs `program` with `words` (its own name first) to its end and returns its wait status. It reads
// nothing, and what it says on stdout goes nowhere, on stderr to `errors`. Who interrupts the
// caller meanwhile, ends the program instead: the caller sees it ended by a signal. Io: it cannot
// be started; the message is the system's.
Result<int> runToItsEnd(const std::filesystem::path& program,
                        const std::vector<std::string>& words,
                        const std::filesystem::path& errors);

// A folder that goes with its owner, with all that is in it.
class TemporaryFolder {
 public:
  // In the place for temporary files. Io: it cannot be made.
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
