#include "session/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace sonde::session {

namespace {

std::uint32_t bitOf(wire::Probe probe) {
  return 1U << static_cast<unsigned>(probe);
}

std::string knownNames() {
  std::string text;
  for (const SourceName& source : sourceNames())
    text += (text.empty() ? "" : " ") + std::string(source.name);
  return text;
}

// One word of a list.
struct Wanted {
  std::string name;
  bool removed;
  const SourceName* source;  // nullptr: there is none of this name
};

std::vector<Wanted> split(const std::string& list) {
  std::vector<Wanted> all;
  std::istringstream words(list);
  std::string word;
  while (std::getline(words, word, ',')) {
    const bool removed = word.starts_with('-');
    const std::string name = removed || word.starts_with('+') ? word.substr(1) : word;
    const auto& names = sourceNames();
    const auto found = std::find_if(
        names.begin(), names.end(), [&](const SourceName& source) { return name == source.name; });
    all.push_back({name, removed, found == names.end() ? nullptr : &*found});
  }
  return all;
}

}  // namespace

const std::vector<SourceName>& sourceNames() {
  using wire::Probe;
  static const std::vector<SourceName> kNames = {{Probe::Annotation, "annotation", true, true},
                                                 {Probe::Torch, "torch", true, true},
                                                 {Probe::Gloo, "gloo", true, true},
                                                 {Probe::Nccl, "nccl", true, true},
                                                 {Probe::Mpi, "mpi", true, true},
                                                 {Probe::Net, "net", true, true},
                                                 {Probe::Cuda, "cuda", true, true},
                                                 {Probe::Nvtx, "nvtx", true, true},
                                                 {Probe::System, "system", true, true},
                                                 {Probe::Io, "io", false, true},
                                                 {Probe::Sync, "sync", false, true},
                                                 {Probe::Python, "python", false, true},
                                                 {Probe::Stack, "stack", false, true},
                                                 {Probe::Tensor, "tensor", false, false}};
  return kNames;
}

std::uint32_t defaultSources() {
  std::uint32_t mask = bitOf(wire::Probe::Process);
  for (const SourceName& source : sourceNames()) {
    if (source.byDefault && source.built)
      mask |= bitOf(source.probe);
  }
  return mask;
}

Result<std::uint32_t> parseSources(const std::string& list) {
  if (list.empty())
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("the list of sources is empty: choose among {}", knownNames())};
  const bool changesTheDefault = list.starts_with('-') || list.starts_with('+');
  std::uint32_t mask = changesTheDefault ? defaultSources() : bitOf(wire::Probe::Process);
  for (const Wanted& wanted : split(list)) {
    if (wanted.source == nullptr)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' is no source: choose among {}", wanted.name, knownNames())};
    if (wanted.removed)
      mask &= ~bitOf(wanted.source->probe);
    else if (wanted.source->built)
      mask |= bitOf(wanted.source->probe);
  }
  return mask;
}

std::vector<std::string> missingSources(const std::string& list) {
  std::vector<std::string> missing;
  for (const Wanted& wanted : split(list)) {
    if (!wanted.removed && wanted.source != nullptr && !wanted.source->built)
      missing.push_back(wanted.name);
  }
  return missing;
}

core::CompanionSet companionsOf(std::uint32_t probeMask) noexcept {
  core::CompanionSet set = 0;
  for (std::size_t at = 0; at < core::kCompanionCount; ++at)
    set |= (probeMask & bitOf(core::kCompanions[at].probe)) != 0 ? core::companionBit(at) : 0;
  return set;
}

}  // namespace sonde::session
