// Whether the fields of what a program hands to Gloo lie where libgloo's headers say. Gloo has left
// its options as they are since it has had them, but promises nothing. So the libgloo whose headers
// Sonde was built with is known by its build id; any other, as inside PyPI's libtorch, has to prove
// itself at the first call of each function: what is read there is copied by the kernel, which
// makes no pointer a crash, and compared with what the fields must say of each other. Any thread
// may ask.
#pragma once

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sonde::preload::gloo {

enum class Layout : int { Unasked, Known, ToBeProved, Unknown };

// Of the library that holds `function`: Known or ToBeProved.
Layout layoutOf(const void* function) noexcept;

// Copies from an address that may be none. False when there is nothing, or the kernel may not tell.
bool copySafely(void* to, const void* from, std::size_t bytes) noexcept;

// Whether there is a transport::UnboundBuffer at this address: its class is of the library that
// holds `function`, and its size, which is returned in `size`, is one that a buffer can have.
bool isBuffer(const void* address, const void* function, std::uint64_t& size) noexcept;

// Says in the trace that the Gloo of this process is not recorded, once.
void sayLayoutUnknown() noexcept;
void sayOfGloo(const char* first, const char* second = "") noexcept;

}  // namespace sonde::preload::gloo
