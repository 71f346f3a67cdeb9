// What a program file says about itself, as far as it decides whether Sonde's library can go along
// into it: the ELF header, the interpreter, the needed libraries, and whether a sanitizer is linked
// in. Plain values; any thread.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::launcher {

struct ElfInfo {
  bool is64 = false;
  bool littleEndian = false;
  std::uint16_t machine = 0;        // EM_X86_64, …
  std::string interpreter;          // the program's loader; empty when static
  std::vector<std::string> needed;  // DT_NEEDED
  bool sanitizer = false;           // ASan, TSan, MSan, LSan or HWASan is in it or needed by it
};

// Unsupported when `path` is no ELF file, Corrupt when its tables point outside it.
Result<ElfInfo> readElf(const std::string& path);

// Whether the name of a library is that of a sanitizer's run-time that must come first in a
// program.
bool isSanitizerLibrary(const std::string& name);

}  // namespace sonde::launcher
