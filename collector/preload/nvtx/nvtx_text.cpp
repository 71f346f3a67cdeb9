#include "collector/preload/nvtx/nvtx_text.h"

#include "collector/core/emit.h"
#include "collector/preload/common/interned_key.h"
#include "collector/preload/nvtx/nvtx_chain.h"

#include <atomic>
#include <cstddef>
#include <cstring>

namespace sonde::preload::nvtx {
namespace {

using wire::Probe;
using wire::RecordKind;
using wire::SliceKind;

constexpr std::size_t kWideBytes = 1024;
constexpr char kProfilerStep[] = "ProfilerStep#";

// Lock-free map from a non-zero key to a non-zero value that only grows. Zero-initialised.
template <std::size_t Capacity>
class GrowingMap {
 public:
  std::uint64_t find(std::uint64_t key) const noexcept {
    for (std::size_t probe = 0; probe < Capacity; ++probe) {
      const Cell& cell = cells_[(start(key) + probe) % Capacity];
      const std::uint64_t there = cell.key.load(std::memory_order_acquire);
      if (there == key)
        return cell.value.load(std::memory_order_acquire);
      if (there == 0)
        return 0;
    }
    return 0;
  }

  // False if it is full.
  bool set(std::uint64_t key, std::uint64_t value) noexcept {
    for (std::size_t probe = 0; probe < Capacity; ++probe) {
      Cell& cell = cells_[(start(key) + probe) % Capacity];
      std::uint64_t there = 0;
      if (cell.key.compare_exchange_strong(there, key, std::memory_order_acq_rel) || there == key) {
        cell.value.store(value, std::memory_order_release);
        return true;
      }
    }
    return false;
  }

 private:
  struct Cell {
    std::atomic<std::uint64_t> key;
    std::atomic<std::uint64_t> value;
  };
  static std::size_t start(std::uint64_t key) noexcept {
    return static_cast<std::size_t>((key * 0x9e37'79b9'7f4a'7c15ull) >> 40);
  }
  Cell cells_[Capacity];
};

std::atomic<std::uint32_t>
    gDomainNames[kMaxDomains];     // 0: not taken; entry 0 is the default domain
GrowingMap<1024> gForeignDomains;  // another tool's handle → Domain
GrowingMap<4096> gForeignStrings;  // another tool's handle → Name
GrowingMap<4096> gCategories;      // domain << 32 | category → text

// Sonde's own handles encode their meaning. Bit 0 distinguishes them from null and from other
// tools' pointers.
constexpr std::uint64_t pack(Name name) noexcept {
  return static_cast<std::uint64_t>(name.id) << 8 | static_cast<std::uint64_t>(name.kind) << 1 | 1;
}
constexpr Name unpack(std::uint64_t bits) noexcept {
  return {static_cast<std::uint32_t>(bits >> 8), static_cast<SliceKind>(bits >> 1 & 0x7f), -1};
}

std::uint64_t bitsOf(const void* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

bool startsWith(const char* text, const char* prefix) noexcept {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

std::int32_t iterationNumber(const char* text) noexcept {
  const char* digit = text + sizeof kProfilerStep - 1;
  // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): kindOf() saw the prefix
  std::int32_t number = *digit >= '0' && *digit <= '9' ? 0 : -1;
  for (; *digit >= '0' && *digit <= '9' && number < 100'000'000; ++digit)
    number = number * 10 + (*digit - '0');
  return number;
}

SliceKind kindOf(const char* text) noexcept {
  switch (text[0]) {
    case 'P':
      return startsWith(text, kProfilerStep) ? SliceKind::Iteration : SliceKind::Operation;
    case 'O':
      return startsWith(text, "Optimizer.step#") ? SliceKind::Optimizer : SliceKind::Operation;
    case 'n':
      return startsWith(text, "nccl:") ? SliceKind::Collective : SliceKind::Operation;
    case 'g':
      return startsWith(text, "gloo:") ? SliceKind::Collective : SliceKind::Operation;
    default:
      return SliceKind::Operation;
  }
}

std::size_t appendUtf8(char* out, std::uint32_t code) noexcept {
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<char>(0xc0 | code >> 6);
    out[1] = static_cast<char>(0x80 | (code & 0x3f));
    return 2;
  }
  if (code < 0x1'0000) {
    out[0] = static_cast<char>(0xe0 | code >> 12);
    out[1] = static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out[2] = static_cast<char>(0x80 | (code & 0x3f));
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | (code >> 18 & 0x07));
  out[1] = static_cast<char>(0x80 | (code >> 12 & 0x3f));
  out[2] = static_cast<char>(0x80 | (code >> 6 & 0x3f));
  out[3] = static_cast<char>(0x80 | (code & 0x3f));
  return 4;
}

void toUtf8(const wchar_t* text, char (&out)[kWideBytes]) noexcept {
  std::size_t length = 0;
  for (; *text != L'\0' && length + 5 <= kWideBytes; ++text) {
    const auto code = static_cast<char32_t>(*text);
    const bool valid = code < 0x11'0000 && (code < 0xd800 || code > 0xdfff);
    length += appendUtf8(out + length, valid ? code : 0xfffd);
  }
  out[length] = '\0';
}

void emitPayload(core::ArgOwner owner,
                 std::uint32_t key,
                 const nvtxEventAttributes_t& attributes) noexcept {
  switch (attributes.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      if (attributes.payload.ullValue > INT64_MAX)
        return core::emitArgDouble(owner, key, static_cast<double>(attributes.payload.ullValue));
      return core::emitArgInt(owner, key, static_cast<std::int64_t>(attributes.payload.ullValue));
    case NVTX_PAYLOAD_TYPE_INT64:
      return core::emitArgInt(owner, key, attributes.payload.llValue);
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      return core::emitArgDouble(owner, key, attributes.payload.dValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return core::emitArgInt(owner, key, attributes.payload.uiValue);
    case NVTX_PAYLOAD_TYPE_INT32:
      return core::emitArgInt(owner, key, attributes.payload.iValue);
    case NVTX_PAYLOAD_TYPE_FLOAT:
      return core::emitArgDouble(owner, key, static_cast<double>(attributes.payload.fValue));
    default:
      return;
  }
}

void emitCategory(core::ArgOwner owner, Domain domain, std::uint32_t category) noexcept {
  static InternedKey key{"category"};
  if (const std::uint32_t name = categoryName(domain, category); name != 0)
    core::emitArgText(owner, key(), name);
  else
    core::emitArgInt(owner, key(), category);
}

}  // namespace

Name nameOf(const char* message) noexcept {
  static InternedKey unnamed{"unnamed"};
  if (message == nullptr || message[0] == '\0')
    return {unnamed(), SliceKind::Operation, -1};
  const SliceKind kind = kindOf(message);
  return {
      core::intern(message), kind, kind == SliceKind::Iteration ? iterationNumber(message) : -1};
}

Name nameOf(const wchar_t* message) noexcept {
  if (message == nullptr)
    return nameOf("");
  char text[kWideBytes];
  toUtf8(message, text);
  return nameOf(text);
}

Name nameOf(const nvtxEventAttributes_t* attributes) noexcept {
  if (attributes == nullptr || attributes->size < sizeof *attributes)
    return nameOf("");
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return nameOf(attributes->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return nameOf(attributes->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return nameOf(attributes->message.registered);
    default:
      return nameOf("");
  }
}

Name nameOf(nvtxStringHandle_t handle) noexcept {
  const std::uint64_t bits = bitsOf(handle);
  if (chainActive()) {
    const std::uint64_t found = gForeignStrings.find(bits);
    return found == 0 ? nameOf("") : unpack(found);
  }
  return (bits & 1) != 0 ? unpack(bits) : nameOf("");
}

std::uint32_t internText(const char* text) noexcept {
  return text == nullptr ? 0 : core::intern(text);
}

std::uint32_t internText(const wchar_t* text) noexcept {
  if (text == nullptr)
    return 0;
  char utf8[kWideBytes];
  toUtf8(text, utf8);
  return core::intern(utf8);
}

std::uint32_t internMessage(std::int32_t type, const nvtxMessageValue_t& message) noexcept {
  nvtxEventAttributes_t attributes{};
  attributes.size = sizeof attributes;
  attributes.messageType = type;
  attributes.message = message;
  return nameOf(&attributes).id;
}

nvtxDomainHandle_t addDomain(std::uint32_t name, nvtxDomainHandle_t handle) noexcept {
  Domain domain = 0;
  for (std::uint32_t at = 1; at < kMaxDomains && domain == 0 && name != 0; ++at) {
    std::uint32_t there = 0;
    if (gDomainNames[at].compare_exchange_strong(there, name, std::memory_order_acq_rel) ||
        there == name)
      domain = static_cast<Domain>(at);
  }
  if (domain == 0)
    core::countLoss(Probe::Nvtx, RecordKind::Arg, wire::LossReason::Definitions);
  if (handle == nullptr)
    return reinterpret_cast<nvtxDomainHandle_t>(std::uintptr_t{domain} << 1 | 1);
  gForeignDomains.set(bitsOf(handle), std::uint64_t{domain} + 1);
  return handle;
}

Domain domainOf(nvtxDomainHandle_t handle) noexcept {
  const std::uint64_t bits = bitsOf(handle);
  if (chainActive()) {
    if (const std::uint64_t found = gForeignDomains.find(bits); found != 0)
      return static_cast<Domain>(found - 1);
  }
  return (bits & 1) != 0 && bits >> 1 < kMaxDomains ? static_cast<Domain>(bits >> 1) : Domain{0};
}

nvtxDomainHandle_t forOther(nvtxDomainHandle_t handle) noexcept {
  return gForeignDomains.find(bitsOf(handle)) != 0 ? handle : nullptr;
}

std::uint32_t domainName(Domain domain) noexcept {
  return gDomainNames[domain].load(std::memory_order_acquire);
}

nvtxStringHandle_t addString(Name name, nvtxStringHandle_t handle) noexcept {
  if (handle == nullptr)
    return reinterpret_cast<nvtxStringHandle_t>(static_cast<std::uintptr_t>(pack(name)));
  if (!gForeignStrings.set(bitsOf(handle), pack(name)))
    core::countLoss(Probe::Nvtx, RecordKind::ScopeBegin, wire::LossReason::Definitions);
  return handle;
}

void nameCategory(Domain domain, std::uint32_t category, std::uint32_t name) noexcept {
  if (!gCategories.set((std::uint64_t{domain} << 32 | category) + 1, name))
    core::countLoss(Probe::Nvtx, RecordKind::Arg, wire::LossReason::Definitions);
}

std::uint32_t categoryName(Domain domain, std::uint32_t category) noexcept {
  return static_cast<std::uint32_t>(gCategories.find((std::uint64_t{domain} << 32 | category) + 1));
}

void emitDetails(core::ArgOwner owner,
                 Domain domain,
                 const nvtxEventAttributes_t* attributes) noexcept {
  static InternedKey domainKey{"domain"};
  static InternedKey payloadKey{"payload"};
  if (domain != 0)
    core::emitArgText(owner, domainKey(), domainName(domain));
  if (attributes == nullptr || attributes->size < sizeof *attributes)
    return;
  if (attributes->category != 0)
    emitCategory(owner, domain, attributes->category);
  if (attributes->payloadType != NVTX_PAYLOAD_UNKNOWN)
    emitPayload(owner, payloadKey(), *attributes);
}

}  // namespace sonde::preload::nvtx
