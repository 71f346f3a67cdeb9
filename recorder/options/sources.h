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

// Every probe that a user may name, in the manual's order.
const std::vector<SourceName>& sourceNames();

// `a,b` records only these; `-c` removes one from the default, `a,-c` from the words before it. Bit
// 1 << Probe. The start and end of processes and threads are always recorded.
Result<std::uint32_t> parseSources(const std::string& list);

std::uint32_t defaultSources();

// Their names, comma-separated, in the manual's order.
std::string sourceWords(std::uint32_t probeMask);

// The companion libraries that these probes need.
core::CompanionSet companionsOf(std::uint32_t probeMask) noexcept;

}  // namespace sonde::recorder
