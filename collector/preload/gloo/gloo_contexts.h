// The communicators of Gloo: its contexts, known by their address while they live. A context's
// constructor and destructor are seen, so an address that is used again is another communicator.
//
// A communicator's key must be the same on all its members. The framework gives it (sonde_api's
// communicator_hint); without it, the key is "gloo:<size>:<n>", n counting the contexts of that
// size in this process, which holds where all members create the same contexts in the same order.
// Any thread may call; nothing allocates or locks.
#pragma once

#include <cstdint>

namespace sonde::preload::gloo {

struct Context;

void constructed(const void* address, int rank, int size) noexcept;
void destroyed(const void* address) noexcept;

// A member of a group, as its context's constructor said; `context` nullptr: its constructor was
// not seen, or the table was full.
struct Caller {
  Context* context = nullptr;
  int rank = -1;
  int size = 0;
};
Caller findCaller(const void* address) noexcept;
// Its id in this process image's spool. 0 when it is not defined there, because there was no room
// for it or another thread is just at it; a later call tries again.
std::uint32_t communicatorOf(Context* context) noexcept;

// What tells this call apart on its communicator, the same on every member. It is the tag, which
// PyTorch counts up in the order of its calls on every rank alike, whatever thread runs them; a tag
// that comes again, as in programs that never set one, counts in the upper half.
std::uint64_t nextSequence(Context* context, std::uint32_t tag) noexcept;

}  // namespace sonde::preload::gloo
