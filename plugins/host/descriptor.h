// The descriptor of a plugin that `sonde` itself loads: one with questions, or one with rules.
// Plain functions; one thread.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace sonde::plugins {

// How all descriptors begin.
struct DescriptorHead {
  std::uint32_t abi = 0;
  std::uint32_t size = 0;
  char name[32] = {};
  char version[16] = {};
};

struct DescriptorKind {
  const char* symbol;   // that the plugin exports
  const char* content;  // "question"
  const char* header;   // "sonde_question.h"
  const char* head;     // "SONDE_QUESTION_HEAD"
  std::uint32_t abi;
  std::size_t bytes;  // of the whole descriptor
};

Error refusedPlugin(const std::filesystem::path& path, const std::string& why);

// Loads the file, which stays loaded until the process ends. Its head is checked in the file,
// before any of its code runs. InvalidArgument: it is no such plugin, or one that this Sonde cannot
// use; the message names the file, the fault and the remedy.
Result<const void*> loadDescriptor(const std::filesystem::path& path, const DescriptorKind& kind);

// Checks of what a loaded descriptor points to: its pointers are trusted, its values are not.
// `what` begins the message of the error, an InvalidArgument.

Error faultyPlugin(const std::string& what, const std::string& why);
// a to z, 0 to 9 and those of `marks`, a letter first.
Result<void> checkName(const std::string& what, const char* text, const std::string& marks = "-_");
// One line of UTF-8.
Result<void> checkLine(const std::string& what, const char* text);
// Not too many.
Result<void> checkArray(const std::string& what, const void* items, std::size_t count);

// The first bytes of the text of a plugin as one line that every output can show.
std::string lineOf(const char* text, std::size_t mostBytes);

}  // namespace sonde::plugins
