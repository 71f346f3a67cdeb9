// Builds the environment with which Sonde follows into a new program image: the recorder's
// variables in this process, merged into the environment that the caller passes on, which may be
// empty. Uses the caller's memory, because between vfork and exec nothing may be allocated. After
// rememberEnvironment() any thread; keeps errno.
#pragma once

#include "collector/core/platform/companions.h"

#include <cstddef>

namespace sonde::preload {

// Keeps the variables of `environment` to carry. Call once, before the host's code runs. `library`:
// the path of this library. If no recorder has set this process up, nothing is carried.
void rememberEnvironment(char* const* environment, const char* library) noexcept;
bool carriesEnvironment() noexcept;
// The path with which programs preload this library; empty if it was not loaded through LD_PRELOAD.
const char* preloadedLibrary() noexcept;

// The session folder that a program will find in `environment` after buildEnvironment().
const char* sessionFolder(char* const* environment) noexcept;

// The libraries of Sonde that a new program preloads. A program that would not bear the recorder
// gets none.
struct Preload {
  bool recorder;
  core::CompanionSet companions;  // those whose paths this process knows
};

// The same as this process.
Preload ownPreload() noexcept;

// Whether `environment` already contains everything that would be carried.
bool isComplete(char* const* environment, Preload preload) noexcept;

// environmentBytes() returns an upper bound of the bytes that buildEnvironment() needs.
// buildEnvironment() returns the environment, which ends in a null pointer and points into `room`
// and `environment`. `room` is aligned for pointers. A null `environment` is an empty one.
// Libraries of Sonde that are not in `preload` are removed from LD_PRELOAD.
std::size_t environmentBytes(char* const* environment) noexcept;
char** buildEnvironment(char* const* environment, Preload preload, void* room) noexcept;

}  // namespace sonde::preload
