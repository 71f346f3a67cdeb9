#include "recorder/options/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace sonde::recorder {

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
  const SourceName* source;  // nullptr: no source has this name
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
  static const std::vector<SourceName> kNames = {{Probe::Annotation, "annotation", true},
                                                 {Probe::Torch, "torch", true},
                                                 {Probe::Gloo, "gloo", true},
                                                 {Probe::Nccl, "nccl", true},
                                                 {Probe::Mpi, "mpi", true},
                                                 {Probe::Net, "net", true},
                                                 {Probe::Cuda, "cuda", true},
                                                 {Probe::Nvtx, "nvtx", true},
                                                 {Probe::System, "system", true},
                                                 {Probe::Io, "io", false},
                                                 {Probe::Sync, "sync", false},
                                                 {Probe::Python, "python", false},
                                                 {Probe::Stack, "stack", false},
                                                 {Probe::Memory, "memory", false},
                                                 {Probe::Tensor, "tensor", false}};
  return kNames;
}

std::uint32_t defaultSources() {
  std::uint32_t mask = bitOf(wire::Probe::Process);
  for (const SourceName& source : sourceNames()) {
    if (source.byDefault)
      mask |= bitOf(source.probe);
  }
  return mask;
}

std::string sourceWords(std::uint32_t probeMask) {
  std::string words;
  for (const SourceName& source : sourceNames())
    if ((probeMask & bitOf(source.probe)) != 0)
      words += (words.empty() ? "" : ",") + std::string(source.name);
  return words;
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
                   fmt::format("'{}' is not a source: choose among {}", wanted.name, knownNames())};
    if (wanted.removed)
      mask &= ~bitOf(wanted.source->probe);
    else
      mask |= bitOf(wanted.source->probe);
  }
  return mask;
}

core::CompanionSet companionsOf(std::uint32_t probeMask) noexcept {
  core::CompanionSet set = 0;
  for (std::size_t at = 0; at < core::kCompanionCount; ++at)
    set |= (probeMask & bitOf(core::kCompanions[at].probe)) != 0 ? core::companionBit(at) : 0;
  return set;
}

}  // namespace sonde::recorder
