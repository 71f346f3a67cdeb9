// A trace under construction, OUTPUT.part: claimed for one process, given its name when it is
// finished, and removed when it is not.
//
// Owned by whoever makes the trace, on one thread; goes after the Database that writes it.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <utility>
#include <vector>

namespace sonde::store {

class TracePart {
 public:
  // An empty file, for createTrace(). One that is there already is replaced only with `replace`,
  // and never while another process writes it. `inputs`: what it is made of, which it may not
  // replace. Errors: checkOutput()'s.
  static Result<TracePart> claim(const std::filesystem::path& output,
                                 bool replace,
                                 const std::vector<std::filesystem::path>& inputs);
  TracePart(TracePart&& other) noexcept;
  TracePart& operator=(TracePart&&) = delete;
  ~TracePart();

  const std::filesystem::path& path() const noexcept { return part_; }

  // Gives the trace its name. When that cannot be, it stays under the one that it has, and the
  // error says so. Requires: nobody has it open.
  Result<void> publish() &&;

 private:
  TracePart(std::filesystem::path output, bool replace, int lock);

  std::filesystem::path output_;
  std::filesystem::path part_;
  bool replace_;
  int lock_;          // descriptor of the file that was made; -1: moved from
  bool ours_ = true;  // to be removed
};

// Whether a process holds the TracePart of this file.
bool isBeingWritten(const std::filesystem::path& part);

}  // namespace sonde::store
