#include "collector/preload/gloo/gloo_layout.h"

#include "collector/core/emit.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/loading/loaded_objects.h"

#include <sys/uio.h>

#include <cstdlib>
#include <cstring>

namespace sonde::preload::gloo {
namespace {

constexpr std::size_t kMaxBuildId = 32;

struct BuildId {
  unsigned char bytes[kMaxBuildId];
  std::size_t size;
};

// dl_iterate_phdr's search for the object that contains `address`.
struct Search {
  std::uintptr_t address;
  BuildId id;
  bool found;
};

// Reads the build id from the notes at `at`.
bool readBuildId(const char* at, const char* end, BuildId& id) noexcept {
  while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const std::size_t nameBytes = (note.n_namesz + 3u) & ~3u;
    const std::size_t descBytes = (note.n_descsz + 3u) & ~3u;
    const char* name = at + sizeof note;
    if (nameBytes + descBytes > static_cast<std::size_t>(end - name))
      return false;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0 &&
        note.n_descsz <= kMaxBuildId) {
      id.size = note.n_descsz;
      std::memcpy(id.bytes, name + nameBytes, id.size);
      return true;
    }
    at = name + nameBytes + descBytes;
  }
  return false;
}

int visit(dl_phdr_info* object, std::size_t, void* data) noexcept {
  auto& search = *static_cast<Search*>(data);
  if (!objectHolds(*object, search.address))
    return 0;
  for (int at = 0; at < object->dlpi_phnum && !search.found; ++at) {
    const ElfW(Phdr)& header = object->dlpi_phdr[at];
    if (header.p_type != PT_NOTE)
      continue;
    const auto* notes = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
    search.found = readBuildId(notes, notes + header.p_memsz, search.id);
  }
  return 1;
}

void toHex(const BuildId& id, char (&text)[2 * kMaxBuildId + 1]) noexcept {
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t at = 0; at < id.size; ++at) {
    text[2 * at] = kDigits[id.bytes[at] >> 4];
    text[2 * at + 1] = kDigits[id.bytes[at] & 0xf];
  }
  text[2 * id.size] = '\0';
}

struct BothHeld {
  std::uintptr_t first;
  std::uintptr_t second;
  bool held;
};

int visitBoth(dl_phdr_info* object, std::size_t, void* data) noexcept {
  auto& both = *static_cast<BothHeld*>(data);
  if (!objectHolds(*object, both.first))
    return 0;
  both.held = objectHolds(*object, both.second);
  return 1;
}

bool inOneObject(const void* first, const void* second) noexcept {
  BothHeld both{
      reinterpret_cast<std::uintptr_t>(first), reinterpret_cast<std::uintptr_t>(second), false};
  dl_iterate_phdr(visitBoth, &both);
  return both.held;
}

}  // namespace

Layout layoutOf(const void* function) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(function), {}, false};
  dl_iterate_phdr(visit, &search);
  char text[2 * kMaxBuildId + 1] = "none";
  if (search.found)
    toHex(search.id, text);
  // Tests pretend to have been built with another libgloo's headers.
  const char* pretended = std::getenv("SONDE_TEST_GLOO_BUILD_ID");
  const bool same = std::strcmp(text, pretended != nullptr ? pretended : SONDE_GLOO_BUILD_ID) == 0;
  return same ? Layout::Known : Layout::ToBeProved;
}

bool copySafely(void* to, const void* from, std::size_t bytes) noexcept {
  const iovec local{to, bytes};
  const iovec remote{const_cast<void*>(from), bytes};
  const long self = core::rawSyscall(SYS_getpid);
  return core::rawSyscall(
             SYS_process_vm_readv, self, core::asLong(&local), 1, core::asLong(&remote), 1, 0) ==
         static_cast<long>(bytes);
}

bool isBuffer(const void* address, const void* function, std::uint64_t& size) noexcept {
  struct {
    const void* virtualTable;
    const void* memory;
    std::uint64_t size;
  } buffer{};
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 48;
  if (!copySafely(&buffer, address, sizeof buffer) || buffer.size >= kMaxBytes ||
      !inOneObject(function, buffer.virtualTable))
    return false;
  size = buffer.size;
  return true;
}

void sayLayoutUnknown() noexcept {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    sayOfGloo(
        "not recorded: the options of this process's Gloo are not those of the libgloo whose "
        "headers Sonde was built with");
}

void sayOfGloo(const char* first, const char* second) noexcept {
  char text[256] = {};
  std::size_t length = 0;
  for (const char* part : {first, second}) {
    const std::size_t room = sizeof text - 1 - length;
    const std::size_t bytes = std::strlen(part) < room ? std::strlen(part) : room;
    std::memcpy(text + length, part, bytes);
    length += bytes;
  }
  core::emitProcessText(core::intern("gloo"), core::intern(text, length));
}

}  // namespace sonde::preload::gloo
