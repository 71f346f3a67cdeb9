// Whether Sonde can use a plugin, judged by its descriptor. `sonde run` checks the file; the
// process checks the loaded library. Not installed. Needs no runtime library; any thread.
#pragma once

#include "plugins/api/sonde_plugin.h"

#include <cstddef>
#include <cstdint>

namespace sonde::plugins {

enum class Fault : std::uint8_t {
  None,
  Abi,           // another version
  Size,          // smaller than the descriptor of its version
  Name,          // breaks the rules in sonde_plugin.h
  ReservedName,  // Sonde's own
  Category,
  Text,     // version or description has no end
  NoStart,  // reported only for a loaded library
};

// The names of Sonde's own probes; a plugin with such a name would be mistaken for one.
inline constexpr const char* kReservedNames[] = {"annotation",
                                                 "nvtx",
                                                 "torch",
                                                 "gloo",
                                                 "net",
                                                 "process",
                                                 "mpi",
                                                 "nccl",
                                                 "cuda",
                                                 "io",
                                                 "sync",
                                                 "python",
                                                 "stack",
                                                 "tensor",
                                                 "system",
                                                 "memory",
                                                 "plugin"};

// For arrays of text, which in a foreign descriptor may have no terminating zero.
template <std::size_t N>
constexpr std::size_t lengthIn(const char (&text)[N]) noexcept {
  std::size_t length = 0;
  while (length < N && text[length] != '\0')
    ++length;
  return length;
}

template <std::size_t N>
constexpr bool isName(const char (&text)[N]) noexcept {
  const std::size_t length = lengthIn(text);
  if (length == 0 || length == N || text[0] < 'a' || text[0] > 'z')
    return false;
  for (std::size_t at = 0; at < length; ++at) {
    const char letter = text[at];
    if (!((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-' ||
          letter == '_'))
      return false;
  }
  return true;
}

template <std::size_t N>
constexpr bool isReserved(const char (&text)[N]) noexcept {
  for (const char* reserved : kReservedNames) {
    std::size_t at = 0;
    while (at < N && reserved[at] != '\0' && reserved[at] == text[at])
      ++at;
    if (at < N && reserved[at] == '\0' && text[at] == '\0')
      return true;
  }
  return false;
}

// `plugin`: the available bytes, the rest zero. Does not inspect its functions.
constexpr Fault faultOf(const sonde_plugin& plugin) noexcept {
  if (plugin.abi != SONDE_PLUGIN_ABI)
    return Fault::Abi;
  if (plugin.size < sizeof plugin)
    return Fault::Size;
  if (!isName(plugin.name))
    return Fault::Name;
  if (isReserved(plugin.name))
    return Fault::ReservedName;
  if (lengthIn(plugin.category) != 0 && (!isName(plugin.category) || isReserved(plugin.category)))
    return Fault::Category;
  if (lengthIn(plugin.version) == sizeof plugin.version ||
      lengthIn(plugin.description) == sizeof plugin.description)
    return Fault::Text;
  return Fault::None;
}

}  // namespace sonde::plugins
