// Which kernels communicate, by their names: the table of docs/devices.md, and patterns like those
// in it. Free functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sonde::model {

struct CommunicationPattern {
  std::string_view pattern;  // in lower case
  std::string_view whose;
};

// What holds for every trace.
std::span<const CommunicationPattern> communicationPatterns() noexcept;
bool isCommunicationKernel(std::string_view kernelName);

// The name of a kernel's function without what it returns, its template's arguments and its
// parameters: "vllm::cross_device_reduce_1stage".
std::string functionOfKernel(std::string_view kernelName);

// Whether the pattern fits all of the text, whatever is upper case: '*' is any text, '?' any
// character.
bool fitsPattern(std::string_view pattern, std::string_view text) noexcept;

}  // namespace sonde::model
