#include "collector/core/platform/exec_target.h"

#include "collector/core/platform/apart.h"
#include "collector/core/platform/exec_scratch.h"
#include "collector/core/platform/syscalls.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

namespace sonde::core {
namespace {

// A terminal must not become the process's controlling terminal.
constexpr int kToLook = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

constexpr int kMaxScriptDepth = 5;  // as in the kernel
constexpr int kScriptLine = 256;    // BINPRM_BUF_SIZE
constexpr unsigned kMaxSegments = 64;
// Limit for a file's table, which may be damaged or sparse.
constexpr uint64_t kMostBytes = 64 << 20;

#if defined(__x86_64__)
constexpr uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kOwnMachine = EM_AARCH64;
#endif

ExecTarget leave(const char* reason, bool mustStrip) noexcept {
  return {true, reason, mustStrip, false};
}

// Reads with bounds, never by mapping: a mapped file that shrinks meanwhile would raise SIGBUS in
// the host.
long readAt(long fd, uint64_t offset, void* out, std::size_t size) noexcept {
  return rawSyscall(
      SYS_pread64, fd, asLong(out), static_cast<long>(size), static_cast<long>(offset));
}

template <typename T>
bool readWhole(long fd, uint64_t offset, T& out) noexcept {
  return readAt(fd, offset, &out, sizeof out) == static_cast<long>(sizeof out);
}

bool isSanitizer(const char* library) noexcept {
  constexpr const char* kNames[] = {"libasan.",
                                    "libtsan.",
                                    "libmsan.",
                                    "liblsan.",
                                    "libhwasan.",
                                    "libclang_rt.asan",
                                    "libclang_rt.tsan",
                                    "libclang_rt.msan",
                                    "libclang_rt.lsan",
                                    "libclang_rt.hwasan"};
  const char* slash = strrchr(library, '/');
  const char* name = slash == nullptr ? library : slash + 1;
  for (const char* sanitizer : kNames) {
    if (strncmp(name, sanitizer, strlen(sanitizer)) == 0)
      return true;
  }
  return false;
}

bool beginsWithOneOf(const char* text, const char* const* names) noexcept {
  for (; *names != nullptr; ++names) {
    if (strncmp(text, *names, strlen(*names)) == 0)
      return true;
  }
  return false;
}

CompanionSet companionsOfLibrary(const char* library) noexcept {
  CompanionSet set = 0;
  for (std::size_t at = 0; at < kCompanionCount; ++at)
    set |= beginsWithOneOf(library, kCompanions[at].needs) ? companionBit(at) : 0;
  return set;
}

constexpr CompanionSet companionsOfAll() noexcept {
  CompanionSet set = 0;
  for (std::size_t at = 0; at < kCompanionCount; ++at)
    set |= kCompanions[at].everywhere ? companionBit(at) : 0;
  return set;
}

CompanionSet companionsOfEnvironment(char* const* environment) noexcept {
  CompanionSet set = 0;
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    for (std::size_t at = 0; at < kCompanionCount; ++at)
      set |= beginsWithOneOf(*entry, kCompanions[at].ranks) ? companionBit(at) : 0;
  }
  return set;
}

// Facts from the dynamic section of a 64-bit program.
struct DynamicFacts {
  uint64_t stringsAddress = 0;
  uint64_t stringsBytes = 0;
  uint64_t needed[128];
  unsigned neededCount = 0;
};

// Data that may be too large for the stack on which an exec is called.
struct Scratch {
  char line[kScriptLine + 1];
  char chunk[2048];
  DynamicFacts facts;
};

struct Program {
  long fd;
  Scratch& scratch;
  Elf64_Ehdr header;

  bool segment(unsigned index, Elf64_Phdr& out) const noexcept {
    return index < header.e_phnum && index < kMaxSegments &&
           readWhole(fd, header.e_phoff + uint64_t{index} * sizeof out, out);
  }
};

bool findSegment(const Program& program, uint32_t type, Elf64_Phdr& out) noexcept {
  for (unsigned index = 0; program.segment(index, out); ++index) {
    if (out.p_type == type)
      return true;
  }
  return false;
}

uint64_t fileOffset(const Program& program, uint64_t address) noexcept {
  Elf64_Phdr segment{};
  for (unsigned index = 0; program.segment(index, segment); ++index) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return address - segment.p_vaddr + segment.p_offset;
  }
  return 0;
}

void readDynamic(const Program& program, const Elf64_Phdr& segment, DynamicFacts& facts) noexcept {
  const uint64_t end = segment.p_filesz < kMostBytes ? segment.p_filesz : kMostBytes;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= end; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry{};
    if (!readWhole(program.fd, segment.p_offset + at, entry) || entry.d_tag == DT_NULL)
      return;
    if (entry.d_tag == DT_STRTAB)
      facts.stringsAddress = entry.d_un.d_ptr;
    else if (entry.d_tag == DT_STRSZ)
      facts.stringsBytes = entry.d_un.d_val;
    else if (entry.d_tag == DT_NEEDED &&
             facts.neededCount < sizeof facts.needed / sizeof facts.needed[0])
      facts.needed[facts.neededCount++] = entry.d_un.d_val;
  }
}

// A statically linked sanitizer has its entry point among the dynamic symbols. GCC's has only the
// name of the function that looks for a symbolizer.
bool namesSanitizer(const char* bytes, std::size_t size) noexcept {
  constexpr const char* kNames[] = {"__asan_init",
                                    "__tsan_init",
                                    "__msan_init",
                                    "__lsan_init",
                                    "__hwasan_init",
                                    "__sanitizer_symbolize_code"};
  for (const char* name : kNames) {
    if (memmem(bytes, size, name, strlen(name) + 1) != nullptr)
      return true;
  }
  return false;
}

bool stringsNameSanitizer(const Program& program, uint64_t offset, uint64_t size) noexcept {
  constexpr std::size_t kOverlap = 32;  // no name is longer
  char(&chunk)[sizeof program.scratch.chunk] = program.scratch.chunk;
  size = size < kMostBytes ? size : kMostBytes;
  for (uint64_t at = 0; at < size; at += sizeof chunk - kOverlap) {
    const long got =
        readAt(program.fd, offset + at, chunk, size - at < sizeof chunk ? size - at : sizeof chunk);
    if (got <= 0)
      return false;
    if (namesSanitizer(chunk, static_cast<std::size_t>(got)))
      return true;
  }
  return false;
}

// Calls `visit` with the name of each library that the program itself needs. Requires: its facts
// and strings have been read.
template <typename Visit>
void forEachNeeded(const Program& program, uint64_t strings, Visit visit) noexcept {
  const DynamicFacts& facts = program.scratch.facts;
  for (unsigned at = 0; at < facts.neededCount; ++at) {
    char name[64];
    const long got = readAt(program.fd, strings + facts.needed[at], name, sizeof name - 1);
    name[got > 0 ? got : 0] = '\0';
    visit(name);
  }
}

struct Libraries {
  bool sanitizer = false;
  CompanionSet companions = 0;
};

Libraries librariesOf(const Program& program) noexcept {
  Elf64_Phdr segment{};
  if (!findSegment(program, PT_DYNAMIC, segment))
    return {};
  DynamicFacts& facts = program.scratch.facts;
  facts = {};
  readDynamic(program, segment, facts);
  const uint64_t strings = fileOffset(program, facts.stringsAddress);
  if (strings == 0)
    return {};
  Libraries found{stringsNameSanitizer(program, strings, facts.stringsBytes), 0};
  forEachNeeded(program, strings, [&](const char* name) {
    found.sanitizer = found.sanitizer || isSanitizer(name);
    found.companions |= companionsOfLibrary(name);
  });
  return found;
}

bool isPython(const char* path) noexcept {
  const char* slash = strrchr(path, '/');
  return strncmp(slash == nullptr ? path : slash + 1, "python", 6) == 0;
}

const char* reasonOfLoader(const Program& program) noexcept {
  Elf64_Phdr segment{};
  if (!findSegment(program, PT_INTERP, segment))
    return "static";
  char path[256];
  const std::size_t size = segment.p_filesz < sizeof path ? segment.p_filesz : sizeof path - 1;
  const long got = readAt(program.fd, segment.p_offset, path, size);
  path[got > 0 ? got : 0] = '\0';
  const char* slash = strrchr(path, '/');
  const char* name = slash == nullptr ? path : slash + 1;
  if (strncmp(name, "ld-musl", 7) == 0)
    return "musl";
  return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld-2.", 5) == 0 ? nullptr
                                                                             : "another C library";
}

bool gainsRights(long fd) noexcept {
  struct stat info {};
  if (rawSyscall(SYS_fstat, fd, asLong(&info)) != 0)
    return false;
  const bool setGid = (info.st_mode & S_ISGID) != 0 && (info.st_mode & S_IXGRP) != 0;
  return (info.st_mode & S_ISUID) != 0 || setGid ||
         rawSyscall(SYS_fgetxattr, fd, asLong("security.capability"), 0, 0) > 0;
}

bool preloadsSanitizer(char* const* environment) noexcept {
  constexpr const char* kName = "LD_PRELOAD=";
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    if (strncmp(*entry, kName, strlen(kName)) != 0)
      continue;
    for (const char* item = *entry + strlen(kName); *item != '\0';) {
      char library[256];
      const std::size_t length = strcspn(item, ": ");
      const std::size_t kept = length < sizeof library ? length : sizeof library - 1;
      memcpy(library, item, kept);
      library[kept] = '\0';
      if (isSanitizer(library))
        return true;
      item += length + (item[length] != '\0' ? 1 : 0);
    }
  }
  return false;
}

ExecTarget inspectElf(long fd,
                      const char* path,
                      char* const* environment,
                      Scratch& scratch) noexcept {
  Program program{fd, scratch, {}};
  const long got = readAt(fd, 0, &program.header, sizeof program.header);
  if (got < static_cast<long>(sizeof(Elf32_Ehdr)))
    return {};
  const unsigned char* ident = program.header.e_ident;
  if (gainsRights(fd))
    return leave("setuid", true);
  if (ident[EI_CLASS] != ELFCLASS64)
    return leave("32-bit", true);
  if (ident[EI_DATA] != ELFDATA2LSB || program.header.e_machine != kOwnMachine)
    return leave("another machine's program", true);
  if (program.header.e_phentsize != sizeof(Elf64_Phdr))
    return leave("damaged ELF file", true);
  const Libraries libraries = librariesOf(program);
  if (libraries.sanitizer)
    return leave("sanitizer", true);
  if (preloadsSanitizer(environment))
    return leave("sanitizer in LD_PRELOAD", true);
  const char* reason = reasonOfLoader(program);
  // A static program ignores LD_PRELOAD, but passes it on to its children.
  if (reason != nullptr)
    return leave(reason, strcmp(reason, "static") != 0);
  const CompanionSet companions = isPython(path) ? kAllCompanions
                                                 : companionsOfAll() | libraries.companions |
                                                       companionsOfEnvironment(environment);
  return {true, nullptr, false, companions};
}

// Returns the interpreter in a script's first line, cut out in place; nullptr if there is none.
char* interpreterIn(char* line) noexcept {
  char* at = line + 2;
  at += strspn(at, " \t");
  at[strcspn(at, " \t\n")] = '\0';
  return *at == '\0' ? nullptr : at;
}

// A program that may be run but not read: it is unknown whether it would bear the library.
ExecTarget unreadable(int folder, const char* path, long error) noexcept {
  const bool runs =
      error == -EACCES && rawSyscall(SYS_faccessat, folder, asLong(path), 1 /* X_OK */) == 0;
  return runs ? leave("not readable", true) : ExecTarget{};
}

ExecTarget inspectWith(Scratch& scratch,
                       int folder,
                       const char* path,
                       char* const* environment) noexcept {
  const bool byDescriptor = path[0] == '\0';
  for (int depth = 0; depth <= kMaxScriptDepth; ++depth) {
    const bool given = byDescriptor && depth == 0;
    const long fd = given ? folder : apart(rawSyscall(SYS_openat, folder, asLong(path), kToLook));
    if (fd < 0)
      return unreadable(folder, path, fd);
    char* line = scratch.line;
    const long got = readAt(fd, 0, line, kScriptLine);
    line[got > 0 ? got : 0] = '\0';
    const bool script = got >= 2 && line[0] == '#' && line[1] == '!';
    const bool elf = got >= SELFMAG && memcmp(line, ELFMAG, SELFMAG) == 0;
    const ExecTarget target = elf ? inspectElf(fd, path, environment, scratch) : ExecTarget{};
    if (!given)
      rawSyscall(SYS_close, fd);
    path = script ? interpreterIn(line) : nullptr;
    if (path == nullptr)
      return target;
    folder = AT_FDCWD;
  }
  return {};
}

}  // namespace

ExecTarget inspectTarget(int folder, const char* path, char* const* environment) noexcept {
  return withScratch(sizeof(Scratch), [&](void* room) {
    return room == nullptr || path == nullptr
               ? ExecTarget{}
               : inspectWith(*static_cast<Scratch*>(room), folder, path, environment);
  });
}

bool findInPath(const char* file, char* out, std::size_t size) noexcept {
  const std::size_t length = strlen(file);
  const char* path = getenv("PATH");  // as execvp does
  if (path == nullptr)
    path = "/bin:/usr/bin";
  for (;;) {  // each folder of the text once
    const std::size_t folder = strcspn(path, ":");
    if (length > 0 && folder + length + 2 <= size) {
      memcpy(out, path, folder);
      out[folder] = '/';
      memcpy(out + folder + (folder == 0 ? 0 : 1), file, length + 1);
      struct stat info {};
      if (rawSyscall(SYS_faccessat, AT_FDCWD, asLong(out), 1 /* X_OK */) == 0 &&
          rawSyscall(SYS_newfstatat, AT_FDCWD, asLong(out), asLong(&info), 0) == 0 &&
          S_ISREG(info.st_mode))
        return true;
    }
    if (path[folder] == '\0')
      return false;
    path += folder + 1;
  }
}

}  // namespace sonde::core
