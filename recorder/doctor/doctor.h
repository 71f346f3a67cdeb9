// `sonde doctor`: reports what can be recorded on this machine, and why the rest cannot. Reads
// files and runs python3; loads nothing into this process. Plain functions; main thread.
#pragma once

#include "recorder/spool/spool_place.h"

#include <map>
#include <string>
#include <vector>

namespace sonde::recorder {

struct ProbeReport {
  std::string name;
  bool available = false;
  std::string reason;  // why not; or the limitations
};

struct DoctorReport {
  std::vector<ProbeReport> probes;
  std::map<std::string, std::string> versions;  // "" if it is not installed
  std::vector<PlaceCheck> spool;                // in the order in which a recording tries them
  std::string clock;                            // the clock that stamps records
};

DoctorReport examine(const SpoolRequest& request);

// The clock that the library will use, given the kernel's clock source.
std::string clockDescription(const std::string& clockSource);

}  // namespace sonde::recorder
