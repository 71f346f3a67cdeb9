// The list of `--sources`: which probes record. Plain functions; any thread.
#pragma once

#include "base/result.h"
#include "collector/core/platform/companions.h"
#include "collector/wire/words.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::recorder {

struct SourceName {
  wire::Probe probe;
  const char* name;
  bool byDefault;
};

// Every probe that a user may name, in the order of the manual.
const std::vector<SourceName>& sourceNames();

// `a,b` records these alone; `-c` takes one away from the default, `a,-c` from what stands before
// it. Bit 1 << Probe; process and thread life are always on.
Result<std::uint32_t> parseSources(const std::string& list);

std::uint32_t defaultSources();

// Their names, with commas between them, in the order of the manual.
std::string sourceWords(std::uint32_t probeMask);

// Which of Sonde's libraries that stand in front of others these probes need.
core::CompanionSet companionsOf(std::uint32_t probeMask) noexcept;

}  // namespace sonde::recorder
