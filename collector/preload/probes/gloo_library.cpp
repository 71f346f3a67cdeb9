#include "collector/preload/probes/gloo_library.h"

#include "collector/core/emit.h"
#include "collector/core/symbol_versions.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace sonde::preload::gloo {
namespace {

constexpr char kSoname[] = "libgloo.so.0";
constexpr std::size_t kMaxBuildId = 32;

enum class Layout : int { Unasked, Known, Unknown };
std::atomic<Layout> gLayout{Layout::Unasked};
std::atomic<bool> gCalled{false};  // whether a wrapper has ever run

struct BuildId {
  unsigned char bytes[kMaxBuildId];
  std::size_t size;
};

// What dl_iterate_phdr looks for: the object that holds `address`.
struct Search {
  std::uintptr_t address;
  BuildId id;
  bool found;
};

bool holds(const dl_phdr_info& object, std::uintptr_t address) noexcept {
  for (int at = 0; at < object.dlpi_phnum; ++at) {
    const ElfW(Phdr)& header = object.dlpi_phdr[at];
    const std::uintptr_t start = object.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= start && address - start < header.p_memsz)
      return true;
  }
  return false;
}

// The id among the notes at `at`.
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
  if (!holds(*object, search.address))
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

void say(const char* first, const char* second, const char* third) noexcept {
  char text[256] = {};
  std::size_t length = 0;
  for (const char* part : {first, second, third}) {
    const std::size_t room = sizeof text - 1 - length;
    const std::size_t bytes = std::strlen(part) < room ? std::strlen(part) : room;
    std::memcpy(text + length, part, bytes);
    length += bytes;
  }
  core::emitProcessText(core::intern("gloo"), core::intern(text, length));
}

bool sayUnlessKnown(void* function) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(function), {}, false};
  dl_iterate_phdr(visit, &search);
  char text[2 * kMaxBuildId + 1] = "none";
  if (search.found)
    toHex(search.id, text);
  // Tests pretend to have been built with another libgloo's headers.
  const char* pretended = std::getenv("SONDE_TEST_GLOO_BUILD_ID");
  if (std::strcmp(text, pretended != nullptr ? pretended : SONDE_GLOO_BUILD_ID) == 0)
    return true;
  say("not recorded: Sonde was built with the headers of another libgloo than the one loaded "
      "(build id ",
      text,
      ")");
  return false;
}

// The path of the n-th loaded object. Objects are opened outside dl_iterate_phdr, which holds a
// lock that another thread's dlopen waits for while it holds the one that dlopen needs.
struct Loaded {
  int countdown;
  char path[4096];
  bool found;
};

int nthObject(dl_phdr_info* object, std::size_t, void* data) noexcept {
  auto& wanted = *static_cast<Loaded*>(data);
  if (wanted.countdown-- > 0)
    return 0;
  wanted.found = true;
  wanted.path[0] = '\0';
  const char* path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  const bool own = holds(*object, reinterpret_cast<std::uintptr_t>(&nthObject));
  if (!own && std::strlen(path) < sizeof wanted.path)
    std::strcpy(wanted.path, path);
  return 1;
}

// The definition in any object but this library, however it was loaded: a PyTorch that holds and
// exports Gloo itself.
void* definitionAnywhere(const char* name) noexcept {
  Loaded object{};
  for (int at = 0;; ++at) {
    object.countdown = at;
    object.found = false;
    dl_iterate_phdr(nthObject, &object);
    if (!object.found)
      return nullptr;
    void* handle = object.path[0] == '\0' ? nullptr : dlopen(object.path, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr)
      continue;
    if (void* address = dlsym(handle, name); address != nullptr)
      return address;
    dlclose(handle);
  }
}

void* lookUp(const char* name) noexcept {
  // Stays open: what was found in it must stay valid.
  if (void* library = dlopen(kSoname, RTLD_NOLOAD | RTLD_LAZY); library != nullptr) {
    if (void* found = dlsym(library, name); found != nullptr)
      return found;
  }
  return definitionAnywhere(name);
}

int isLibtorch(dl_phdr_info* object, std::size_t, void* data) noexcept {
  if (object->dlpi_name != nullptr && std::strstr(object->dlpi_name, "/libtorch_cpu.so") != nullptr)
    *static_cast<bool*>(data) = true;
  return 0;
}

// A distributed run whose PyTorch brings Gloo inside libtorch, as PyPI's does, never comes by here.
__attribute__((destructor)) void explainAbsence() noexcept {
  const char* worldSize = std::getenv("WORLD_SIZE");
  if (gCalled.load(std::memory_order_relaxed) || !core::enabled(wire::Probe::Gloo) ||
      worldSize == nullptr || std::atoi(worldSize) < 2)
    return;
  bool libtorch = false;
  dl_iterate_phdr(isLibtorch, &libtorch);
  if (libtorch && dlopen(kSoname, RTLD_NOLOAD | RTLD_LAZY) == nullptr)
    say("not available: Gloo is inside libtorch, ",
        "so its collectives show as operators and as traffic",
        "");
}

}  // namespace

void* realSymbol(const char* name) noexcept {
  gCalled.store(true, std::memory_order_relaxed);
  const int error = errno;
  void* found = lookUp(name);
  errno = error;
  return found;
}

bool layoutKnown(void* function) noexcept {
  Layout layout = gLayout.load(std::memory_order_relaxed);
  if (layout == Layout::Unasked && core::enabled(wire::Probe::Gloo)) {
    layout = sayUnlessKnown(function) ? Layout::Known : Layout::Unknown;
    gLayout.store(layout, std::memory_order_relaxed);
  }
  return layout == Layout::Known;
}

}  // namespace sonde::preload::gloo
