// The environment that a new program image needs so that Sonde goes along into it: what the
// recorder gave this process, merged into whatever environment the caller passes on, which may be
// empty. Built in memory that the caller provides, since between vfork and exec nothing may be
// allocated. After rememberEnvironment() any thread; keeps errno.
#pragma once

#include "collector/core/platform/companions.h"

#include <cstddef>

namespace sonde::preload {

// Keeps what is to be carried from `environment` (once, before the host's code runs). `library` is
// the path of this library. Nothing is carried when no recorder has set this process up.
void rememberEnvironment(char* const* environment, const char* library) noexcept;
bool carriesEnvironment() noexcept;
// The path of this library as programs are told to preload it; empty when it came by another way
// than LD_PRELOAD.
const char* preloadedLibrary() noexcept;

// The session folder that a program will find in `environment` once that is complete.
const char* sessionFolder(char* const* environment) noexcept;

// Which of Sonde's libraries a new program is to preload. One that would not bear the recorder gets
// none.
struct Preload {
  bool recorder;
  core::CompanionSet companions;  // as far as this process was told where they are
};

// As this process does itself.
Preload ownPreload() noexcept;

// Whether `environment` already has all that would be carried.
bool isComplete(char* const* environment, Preload preload) noexcept;

// The bytes that buildEnvironment() needs at most, and the environment itself, which ends in a null
// pointer and points into `room` and `environment`. `room` is aligned for pointers. Null
// `environment` is an empty one. What of Sonde's libraries is not to be preloaded is taken out of
// LD_PRELOAD.
std::size_t environmentBytes(char* const* environment) noexcept;
char** buildEnvironment(char* const* environment, Preload preload, void* room) noexcept;

}  // namespace sonde::preload
