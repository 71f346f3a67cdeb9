// The shared objects of this process. Any thread. No lock is held while an object is opened, and
// only the loader allocates.
#pragma once

#include <link.h>

#include <cstdint>

namespace sonde::preload {

// Whether one of the object's segments contains `address`.
bool objectHolds(const dl_phdr_info& object, std::uintptr_t address) noexcept;

// Whether `address` is in the program itself.
bool isOfProgram(const void* address) noexcept;

// Returns the definition of `name` in any object except the caller's library, however it was
// loaded. RTLD_NEXT does not find objects that Python has loaded RTLD_LOCAL. nullptr: none defines
// it. The object stays open.
void* definitionAnywhere(const char* name) noexcept;

}  // namespace sonde::preload
