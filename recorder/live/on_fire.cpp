#include "recorder/live/on_fire.h"

#include <fmt/format.h>

#include <string_view>

namespace sonde::recorder {
namespace {

constexpr std::string_view kExec = "exec:";
constexpr std::string_view kWebhook = "webhook:";

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
    else
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("--on-fire '{}': use stop, exec:COMMAND or webhook:URL", word)};
  }
  return onFire;
}

}  // namespace sonde::recorder
