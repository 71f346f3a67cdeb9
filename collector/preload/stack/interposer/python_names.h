// The names of Python functions, as ids of strings. Each is read once. Safe in a signal handler, on
// any number of threads.
#pragma once

#include "collector/preload/stack/interposer/own_memory.h"
#include "collector/wire/python_layout.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::stack {

// A code object, with the addresses of its texts. Two with equal members count as the same.
struct CodeObject {
  std::uint64_t address;
  std::uint64_t name;
  std::uint64_t file;
  std::uint32_t line;
};

struct CodeNames {
  std::uint32_t name = 0;
  std::uint32_t file = 0;
};

using Intern = std::uint32_t (*)(const char* text, std::size_t length);

// Call it before the other functions.
void prepareNames(const wire::PythonLayout& layout, std::uint64_t textType, Intern intern) noexcept;

CodeNames namesOf(const CodeObject& code, const OwnMemory& memory) noexcept;

}  // namespace sonde::preload::stack
