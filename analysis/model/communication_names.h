// Recognises kernels that communicate by their names: the table of docs/devices.md, and similar
// patterns of the user. Free functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sonde::model {

struct CommunicationPattern {
  std::string_view pattern;  // in lower case
  std::string_view whose;
};

// The patterns that hold for every trace.
std::span<const CommunicationPattern> communicationPatterns() noexcept;
bool isCommunicationKernel(std::string_view kernelName);

// The name of a kernel's function without its return type, template arguments and parameters:
// "vllm::cross_device_reduce_1stage".
std::string functionOfKernel(std::string_view kernelName);

// Whether the pattern matches the whole text, ignoring case of the text: '*' matches any text, '?'
// any character.
bool fitsPattern(std::string_view pattern, std::string_view text) noexcept;

}  // namespace sonde::model
