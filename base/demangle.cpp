#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace sonde {

std::string demangled(std::string_view name) {
  std::string text(name);
  if (!name.starts_with("_Z"))
    return text;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && readable ? std::string(readable.get()) : text;
}

}  // namespace sonde
