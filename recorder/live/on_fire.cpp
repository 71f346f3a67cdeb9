#include "recorder/live/on_fire.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>

namespace sonde::recorder {
namespace {

constexpr std::string_view kExec = "exec:";
constexpr std::string_view kWebhook = "webhook:";
constexpr std::string_view kCapture = "capture";
constexpr std::int64_t kCaptureNs = 30'000'000'000;

// The time of `capture:NS`; kCaptureNs without one, 0 if it is wrong.
std::int64_t captureTime(std::string_view word) {
  word.remove_prefix(kCapture.size());
  if (word.empty())
    return kCaptureNs;
  std::int64_t ns = 0;
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), ns);
  return word.front() == ':' && error == std::errc() && end == word.data() + word.size() && ns > 0
             ? ns
             : 0;
}

}  // namespace

Result<OnFire> parseOnFire(const std::vector<std::string>& words) {
  OnFire onFire;
  for (const std::string& word : words) {
    if (word == "stop")
      onFire.stop = true;
    else if (word.starts_with(kExec) && word.size() > kExec.size())
      onFire.commands.push_back(word.substr(kExec.size()));
    else if (word.starts_with(kWebhook) && word.size() > kWebhook.size())
      onFire.webhooks.push_back(word.substr(kWebhook.size()));
    else if (const bool captures = word.starts_with(kCapture); captures && captureTime(word) > 0)
      onFire.captureNs = captureTime(word);
    else
      return Error{
          ErrorCode::InvalidArgument,
          fmt::format(
              "--on-fire '{}': use stop, exec:COMMAND, webhook:URL, capture or capture:TIME",
              word)};
  }
  return onFire;
}

}  // namespace sonde::recorder
