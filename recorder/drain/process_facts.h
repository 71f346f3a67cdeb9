// Facts about a process image that are not in its spool file. Plain values.
#pragma once

#include "recorder/spool/image_id.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sonde::recorder {

// Facts that the recorder read from /proc or got from waitpid. Only members that are set are
// stored. Facts may come in parts, and before the image's spool file has been seen. They are
// dropped if the process ended without a spool file.
struct ProcessFacts {
  ImageId image;
  std::optional<int> rank;
  std::optional<int> localRank;
  std::optional<int> worldSize;
  std::optional<std::string> command;  // redacted
  std::optional<int> exitStatus;       // as a shell reports it: 128 + signal if killed
  std::optional<int> exitSignal;       // if a signal ended it
  std::optional<std::int64_t> endMonotonicNs;
  std::map<std::string, std::string>
      arguments;  // stored as args of the process: environment, host facts
};

}  // namespace sonde::recorder
