// The communicators of Gloo: its contexts, identified by their address while they exist. Sonde sees
// a context's constructor and destructor, so a reused address is a new communicator.
//
// A communicator's key must be the same on all members. The framework provides it (sonde_api's
// communicator_hint). Without it the key is "gloo:<size>:<n>", with n counting the contexts of that
// size in this process. That is correct if all members create the same contexts in the same order.
// Any thread may call; no function allocates or locks.
#pragma once

#include <cstdint>

namespace sonde::preload::gloo {

struct Context;

void constructed(const void* address, int rank, int size) noexcept;
void destroyed(const void* address) noexcept;

// A member of a group, from its context's constructor. `context` nullptr: the constructor was not
// seen, or the table was full.
struct Caller {
  Context* context = nullptr;
  int rank = -1;
  int size = 0;
};
Caller findCaller(const void* address) noexcept;
// Returns the communicator's id in this process image's spool. Returns 0 if it is not defined
// there, because there was no room or another thread is just defining it; a later call tries again.
std::uint32_t communicatorOf(Context* context) noexcept;

// Returns a number that identifies this call on its communicator, the same on every member. It is
// the tag, which PyTorch counts up in the same order on every rank, whatever thread runs the calls.
// If a tag repeats, as in programs that never set one, the upper half counts the repetitions.
std::uint64_t nextSequence(Context* context, std::uint32_t tag) noexcept;

}  // namespace sonde::preload::gloo
