// Invalid requests of a plugin: which function it called, and what was wrong. The numbers are part
// of the format: append, never renumber. The words for them are in analysis/ingest.
#pragma once

#include <atomic>
#include <cstdint>

namespace sonde::wire {

inline constexpr std::uint32_t kMaxPlugins = 8;  // in a process

enum class PluginCall : std::uint8_t {
  Intern = 0,
  Begin = 1,
  End = 2,
  Call = 3,
  Mark = 4,
  Counter = 5,
  Value = 6,
  Argument = 7,
  Note = 8,
  Other = 9,
  Count = 10,
};

enum class PluginMistake : std::uint8_t {
  NotActive = 0,       // before start, after stop, or after Sonde switched it off
  NullPointer = 1,     // where none is allowed
  TooLong = 2,         // a text
  UnknownName = 3,     // an id that no text has
  UnknownKind = 4,     // of a slice, or an unknown severity of a note
  BadTime = 5,         // an end before its begin, or a time that now() cannot have returned
  NotOpen = 6,         // a scope that is not open on the calling thread
  NotItsOwn = 7,       // a scope that another probe or plugin opened
  NotTheLast = 8,      // an argument for a record that is no longer the last of its thread
  UnknownCounter = 9,  // or another plugin's
  NotFinite = 10,      // a value that is not finite
  TooMany = 11,        // texts or counters
  Count = 12,
};

// By PluginDefinition::number. Index 0: calls through a table that Sonde did not hand out.
struct PluginLosses {
  std::atomic<std::uint32_t> count[kMaxPlugins + 1][static_cast<int>(PluginCall::Count)]
                                  [static_cast<int>(PluginMistake::Count)];
};

}  // namespace sonde::wire
