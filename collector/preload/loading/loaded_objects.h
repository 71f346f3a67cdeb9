// The shared objects of this process. Any thread; no lock is held while an object is opened, and
// nothing allocates but the loader.
#pragma once

#include <link.h>

#include <cstdint>

namespace sonde::preload {

// Whether one of the object's segments holds `address`.
bool objectHolds(const dl_phdr_info& object, std::uintptr_t address) noexcept;

// Whether it lies in the program itself.
bool isOfProgram(const void* address) noexcept;

// The definition of `name` in any object but the caller's library, however that object was loaded:
// RTLD_NEXT does not see what Python has loaded RTLD_LOCAL. nullptr: none has it. The object stays
// open.
void* definitionAnywhere(const char* name) noexcept;

}  // namespace sonde::preload
