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

Result<std::uint32_t> parseSources(const std::string& list) {
  const bool onlyRemoves = list.starts_with('-');
  std::uint32_t mask = onlyRemoves ? defaultSources() : bitOf(wire::Probe::Process);
  std::istringstream words(list);
  std::string word;
  while (std::getline(words, word, ',')) {
    const bool removes = word.starts_with('-');
    const std::string name = removes ? word.substr(1) : word;
    const auto& names = sourceNames();
    const auto found = std::find_if(
        names.begin(), names.end(), [&](const SourceName& source) { return name == source.name; });
    if (found == names.end())
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' is no source: choose among {}", name, knownNames())};
    if (removes)
      mask &= ~bitOf(found->probe);
    else
      mask |= bitOf(found->probe);
  }
  return mask;
}

}  // namespace sonde::session
