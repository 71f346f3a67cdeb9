// The names of NVTX events: messages, domains, categories and registered strings, as ids of
// interned texts. Everything is in fixed tables of this library, so any thread may call any
// function at any time; none allocates or locks.
#pragma once

#include <cstdint>

#define NVTX_NO_IMPL
#include "collector/core/emit.h"
#include "collector/wire/words.h"

#include <nvtx3/nvToolsExt.h>

namespace sonde::preload::nvtx {

// A domain's index in a table. 0 is the default domain, which has no name. The 256th and later
// domains count as the default domain. The number is also the group of the domain's scopes in
// collector/core.
using Domain = std::uint8_t;
inline constexpr std::uint32_t kMaxDomains = 255;
inline constexpr std::uint8_t kWaitGroup = 255;  // of nvtxDomainSyncUser… waits

struct Name {
  std::uint32_t id;
  // Operation, or the kind that PyTorch's and NCCL's naming conventions imply.
  wire::SliceKind kind;
  std::int32_t number = -1;  // of an iteration: N of "ProfilerStep#N"
};

// The empty text and a null pointer become "unnamed".
Name nameOf(const char* message) noexcept;
Name nameOf(const wchar_t* message) noexcept;
Name nameOf(const nvtxEventAttributes_t* attributes) noexcept;

// Returns the id of the UTF-8 text; wide texts are cut at 1023 bytes.
std::uint32_t internText(const char* text) noexcept;
std::uint32_t internText(const wchar_t* text) noexcept;
std::uint32_t internMessage(std::int32_t type, const nvtxMessageValue_t& message) noexcept;

// `handle`: the other tool's (nvtx_chain.h) handle, or nullptr. Returns the handle for the program.
// A domain that is created again under its name is the same domain.
nvtxDomainHandle_t addDomain(std::uint32_t name, nvtxDomainHandle_t handle) noexcept;
Domain domainOf(nvtxDomainHandle_t handle) noexcept;
std::uint32_t domainName(Domain domain) noexcept;
// The handle to pass to the other tool, which does not understand Sonde's handles.
nvtxDomainHandle_t forOther(nvtxDomainHandle_t handle) noexcept;

nvtxStringHandle_t addString(Name name, nvtxStringHandle_t handle) noexcept;
Name nameOf(nvtxStringHandle_t handle) noexcept;

void nameCategory(Domain domain, std::uint32_t category, std::uint32_t name) noexcept;
// 0 if it has no name.
std::uint32_t categoryName(Domain domain, std::uint32_t category) noexcept;

// Emits domain, category and payload of an event as its arguments. `attributes` may be null.
void emitDetails(core::ArgOwner owner,
                 Domain domain,
                 const nvtxEventAttributes_t* attributes) noexcept;

}  // namespace sonde::preload::nvtx
