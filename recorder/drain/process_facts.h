// Facts about one process image that its spool file does not tell. Plain values.
#pragma once

#include "recorder/spool/image_id.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sonde::recorder {

// What the recorder read about an image from /proc, or learned from waitpid. Only what is set is
// stored; it may come in parts and before the image's spool file has been seen. It is dropped when
// the process has gone without one.
struct ProcessFacts {
  ImageId image;
  std::optional<int> rank;
  std::optional<int> localRank;
  std::optional<int> worldSize;
  std::optional<std::string> command;  // redacted
  std::optional<int> exitStatus;       // as a shell shows it: 128 + signal when killed
  std::optional<int> exitSignal;       // when a signal ended it
  std::optional<std::int64_t> endMonotonicNs;
  std::map<std::string, std::string>
      arguments;  // stored as args of the process: environment, host facts
};

}  // namespace sonde::recorder
