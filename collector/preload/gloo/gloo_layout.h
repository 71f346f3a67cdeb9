// Whether the fields of a program's arguments to Gloo lie where libgloo's headers say. Gloo has
// never changed its options' layout, but does not promise that. Sonde knows the libgloo of its
// headers by its build id. Any other libgloo, for example the one inside PyPI's libtorch, must be
// proved at the first call of each function. The kernel copies the data for the proof, so that no
// pointer can crash the process, and the fields are checked against each other. Any thread may
// call.
#pragma once

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sonde::preload::gloo {

enum class Layout : int { Unasked, Known, ToBeProved, Unknown };

// The layout of the library that contains `function`: Known or ToBeProved.
Layout layoutOf(const void* function) noexcept;

// Copies from an address that may be invalid. False if nothing is mapped there, or the kernel
// forbids the copy.
bool copySafely(void* to, const void* from, std::size_t bytes) noexcept;

// Whether there is a transport::UnboundBuffer at this address: its class is from the library that
// contains `function`, and its size, returned in `size`, is plausible.
bool isBuffer(const void* address, const void* function, std::uint64_t& size) noexcept;

// Reports once in the trace that the Gloo of this process is not recorded.
void sayLayoutUnknown() noexcept;
void sayOfGloo(const char* first, const char* second = "") noexcept;

}  // namespace sonde::preload::gloo
