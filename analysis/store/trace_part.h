// A trace under construction, OUTPUT.part: claimed for one process, renamed when finished, and
// removed if not.
//
// Owned by the code that makes the trace, on one thread; destroyed after the Database that writes
// it.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <utility>
#include <vector>

namespace sonde::store {

class TracePart {
 public:
  // Creates an empty file for createTrace(). Replaces an existing one only with `replace`, and
  // never while another process writes it. `inputs`: its sources, which it may not replace. Errors:
  // checkOutput()'s.
  static Result<TracePart> claim(const std::filesystem::path& output,
                                 bool replace,
                                 const std::vector<std::filesystem::path>& inputs);
  TracePart(TracePart&& other) noexcept;
  TracePart& operator=(TracePart&&) = delete;
  ~TracePart();

  const std::filesystem::path& path() const noexcept { return part_; }

  // Gives the trace its name. If that fails, it keeps its current name, and the error says so.
  // Requires: no process has it open.
  Result<void> publish() &&;

 private:
  TracePart(std::filesystem::path output, bool replace, int lock);

  std::filesystem::path output_;
  std::filesystem::path part_;
  bool replace_;
  int lock_;          // descriptor of the created file; -1: moved from
  bool ours_ = true;  // must be removed
};

// Whether a process holds the TracePart of this file.
bool isBeingWritten(const std::filesystem::path& part);

}  // namespace sonde::store
