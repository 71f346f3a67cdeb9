// What NVTX events are called: messages, domains, categories and registered strings, as ids of
// interned texts. Everything lives in fixed tables of this library, so any thread may call any
// function at any time; none allocates or locks.
#pragma once

#include <cstdint>

#define NVTX_NO_IMPL
#include "collector/core/emit.h"
#include "collector/wire/words.h"

#include <nvtx3/nvToolsExt.h>

namespace sonde::preload::nvtx {

// A domain is known by its place in a table; 0 is the default domain, which has no name. The 256th
// and later ones count as the default domain. The number is also the group of the domain's scopes
// in collector/core.
using Domain = std::uint8_t;
inline constexpr std::uint32_t kMaxDomains = 255;
inline constexpr std::uint8_t kWaitGroup = 255;  // of nvtxDomainSyncUser… waits

struct Name {
  std::uint32_t id;
  wire::SliceKind kind;  // operation, or what the conventions of PyTorch and NCCL make of the text
  std::int32_t number = -1;  // of an iteration: N of "ProfilerStep#N"
};

// The empty text and a null pointer are "unnamed".
Name nameOf(const char* message) noexcept;
Name nameOf(const wchar_t* message) noexcept;
Name nameOf(const nvtxEventAttributes_t* attributes) noexcept;

// The UTF-8 id of a text; wide ones are cut at 1023 bytes.
std::uint32_t internText(const char* text) noexcept;
std::uint32_t internText(const wchar_t* text) noexcept;
std::uint32_t internMessage(std::int32_t type, const nvtxMessageValue_t& message) noexcept;

// `handle` is what the other tool (nvtx_chain.h) returned for it, nullptr when it did not; the
// result is what the program gets. A domain that is created again under its name is the same one.
nvtxDomainHandle_t addDomain(std::uint32_t name, nvtxDomainHandle_t handle) noexcept;
Domain domainOf(nvtxDomainHandle_t handle) noexcept;
std::uint32_t domainName(Domain domain) noexcept;
// What the other tool may be given for it: not a handle that only Sonde understands.
nvtxDomainHandle_t forOther(nvtxDomainHandle_t handle) noexcept;

nvtxStringHandle_t addString(Name name, nvtxStringHandle_t handle) noexcept;
Name nameOf(nvtxStringHandle_t handle) noexcept;

void nameCategory(Domain domain, std::uint32_t category, std::uint32_t name) noexcept;
// 0 when it has none.
std::uint32_t categoryName(Domain domain, std::uint32_t category) noexcept;

// Emits domain, category and payload of an event as its arguments. `attributes` may be null.
void emitDetails(core::ArgOwner owner,
                 Domain domain,
                 const nvtxEventAttributes_t* attributes) noexcept;

}  // namespace sonde::preload::nvtx
