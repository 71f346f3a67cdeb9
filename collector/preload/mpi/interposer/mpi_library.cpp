#include "collector/preload/mpi/interposer/mpi_library.h"

#include "collector/core/platform/symbol_versions.h"
#include "collector/preload/loading/loaded_objects.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include <cstring>

namespace sonde::preload::mpi {
namespace {

constexpr const char* kNames[] = {
    "libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi.so.20", "libmpi.so", nullptr};

const Hooks* gHooks = nullptr;

// Must not run later: dlsym takes the loader's lock.
__attribute__((constructor(101))) void lookForHooks() noexcept {
  const auto find = reinterpret_cast<FindHooks>(dlsym(RTLD_DEFAULT, "sonde_mpi_hooks"));
  if (find != nullptr)
    gHooks = find(kHooksVersion);
  else
    dlerror();  // otherwise the program's next dlerror() would report this lookup
}

constinit std::atomic<std::size_t> gTaken{0};

struct Search {
  std::uintptr_t address;
  std::uintptr_t own;  // an address in MPI itself
  std::uintptr_t begin;
  std::uintptr_t end;  // 0: no object contains the address
  Caller caller;
};

// Pages of code outside any object, as a just-in-time compiler creates.
constexpr std::size_t kPages = 64;
constexpr int kPageBits = 12;
constinit std::atomic<std::uintptr_t> gLoosePages[kPages] = {};

bool beginsWith(const char* text, const char* with) noexcept {
  return std::strncmp(text, with, std::strlen(with)) == 0;
}

Caller callerNamed(const char* path) noexcept {
  constexpr const char* kFortran[] = {
      "libmpi_mpifh", "libmpi_usempi", "libmpichfort", "libmpichf90", "libmpifort", "libfmpich"};
  const char* slash = std::strrchr(path, '/');
  for (const char* name : kFortran) {
    if (beginsWith(slash == nullptr ? path : slash + 1, name))
      return Caller::Fortran;
  }
  return Caller::Program;
}

int visit(dl_phdr_info* object, std::size_t, void* data) noexcept {
  auto& search = *static_cast<Search*>(data);
  if (!objectHolds(*object, search.address))
    return 0;
  search.caller = objectHolds(*object, search.own)
                      ? Caller::Library
                      : callerNamed(object->dlpi_name == nullptr ? "" : object->dlpi_name);
  std::uintptr_t begin = ~std::uintptr_t{0};
  std::uintptr_t end = 0;
  for (int at = 0; at < object->dlpi_phnum; ++at) {
    const ElfW(Phdr)& header = object->dlpi_phdr[at];
    if (header.p_type != PT_LOAD)
      continue;
    const std::uintptr_t start = object->dlpi_addr + header.p_vaddr;
    begin = start < begin ? start : begin;
    end = start + header.p_memsz > end ? start + header.p_memsz : end;
  }
  search.begin = begin;
  search.end = end;
  return 1;
}

}  // namespace

constinit InterposedLibrary gMpi{kNames};
constinit Session gSession{};
constinit CallerRange gCallers[kCallerRanges] = {};

const Hooks* findHooks() noexcept {
  return gHooks;
}

// A program that is not position-independent has copies of MPI's variables, which take precedence.
void* findData(const char* symbol) noexcept {
  void* const found = dlsym(RTLD_DEFAULT, symbol);
  dlerror();
  return found != nullptr ? found : gMpi.find(symbol, nullptr);
}

[[gnu::cold]] Caller learnCaller(std::uintptr_t address) noexcept {
  static constinit RealMpi<void*> init{"PMPI_Init"};
  const std::uintptr_t page = address >> kPageBits;
  std::atomic<std::uintptr_t>& loose = gLoosePages[page % kPages];
  if (loose.load(std::memory_order_relaxed) == page)
    return Caller::Program;
  Search search{address, 0, 0, 0, Caller::Program};
  if (init.find(nullptr))
    search.own = reinterpret_cast<std::uintptr_t>(init());
  const int error = errno;
  dl_iterate_phdr(visit, &search);
  errno = error;
  if (search.end == 0)
    loose.store(page, std::memory_order_relaxed);
  else if (const std::size_t at = gTaken.fetch_add(1, std::memory_order_relaxed);
           at < kCallerRanges) {
    gCallers[at].begin = search.begin;
    gCallers[at].caller = search.caller;
    gCallers[at].end.store(search.end, std::memory_order_release);
  }
  return search.caller;
}

}  // namespace sonde::preload::mpi
