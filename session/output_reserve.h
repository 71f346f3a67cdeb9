// A little room on the disk of the trace, taken while there is some and given up when the disk is
// full, so that the losses can still be written down. An unnamed file: nothing is left behind.
// Owned by the drainer.
#pragma once

#include <filesystem>

namespace sonde::session {

class OutputReserve {
 public:
  explicit OutputReserve(const std::filesystem::path& part);
  OutputReserve(const OutputReserve&) = delete;
  OutputReserve& operator=(const OutputReserve&) = delete;
  ~OutputReserve() { release(); }

  void release() noexcept;

 private:
  int fd_ = -1;
};

}  // namespace sonde::session
