#include "plugins/host/plugin_file.h"

#include "plugins/api/plugin_check.h"
#include "plugins/host/elf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <vector>

namespace sonde::plugins {

namespace fs = std::filesystem;

namespace {

constexpr const char* kDescriptor = "sonde_plugin_descriptor";

Error refused(const fs::path& path, ErrorCode code, const std::string& why) {
  return {code, fmt::format("plugin {}: {}", path.string(), why)};
}

template <std::size_t N>
std::string textOf(const char (&text)[N]) {
  return {text, lengthIn(text)};
}

// The user's remedy for a fault. Never called with None or NoStart.
std::string adviceOn(Fault fault, const sonde_plugin& plugin) {
  switch (fault) {
    case Fault::Abi:
      return fmt::format(
          "it was built for plugin ABI {}, and this Sonde has {}: build it with this Sonde's "
          "sonde_plugin.h",
          plugin.abi,
          SONDE_PLUGIN_ABI);
    case Fault::Size:
      return fmt::format("its {} has {} bytes, but ABI {} has {}: begin it with SONDE_PLUGIN_HEAD",
                         kDescriptor,
                         plugin.size,
                         SONDE_PLUGIN_ABI,
                         sizeof plugin);
    case Fault::ReservedName:
      return fmt::format("its name '{}' is that of one of Sonde's probes: give it another",
                         textOf(plugin.name));
    case Fault::Name:
    case Fault::Category:
      return fmt::format(
          "its {} '{}' is invalid: use a to z, 0 to 9, - and _, a letter first, and no name of a "
          "Sonde probe as category",
          fault == Fault::Name ? "name" : "category",
          fault == Fault::Name ? textOf(plugin.name) : textOf(plugin.category));
    default:
      return "its version or description has no terminating zero";
  }
}

}  // namespace

Result<PluginFile> checkPlugin(const fs::path& path) {
  std::error_code failure;
  const fs::path whole = fs::canonical(path, failure);
  if (failure)
    return refused(path, ErrorCode::NotFound, failure.message());
  if (whole.string().find_first_of(" :") != std::string::npos)
    return refused(
        whole, ErrorCode::InvalidArgument, "LD_PRELOAD cannot contain a blank or colon: move it");
  auto file = ElfFile::open(whole);
  if (!file)
    return refused(whole, file.error().code, file.error().message);
  auto bytes = file->exported(kDescriptor, sizeof(sonde_plugin));
  if (!bytes)
    return refused(whole, bytes.error().code, bytes.error().message + ": see `docs/plugins.md`");
  sonde_plugin plugin{};
  std::memcpy(&plugin, bytes->data(), std::min(bytes->size(), sizeof plugin));
  // Another version may have another descriptor, but with the same first two fields.
  Fault fault = faultOf(plugin);
  if (fault == Fault::None && bytes->size() < sizeof plugin)
    fault = Fault::Size;
  if (fault != Fault::None)
    return refused(whole, ErrorCode::Unsupported, adviceOn(fault, plugin));
  PluginFile found{
      whole, textOf(plugin.name), {}, textOf(plugin.version), textOf(plugin.description)};
  found.category = lengthIn(plugin.category) == 0 ? found.name : textOf(plugin.category);
  return found;
}

}  // namespace sonde::plugins
