#include "recorder/spool/manifest.h"

#include "recorder/launcher/process_stat.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include <nlohmann/json.hpp>

namespace sonde::recorder {
namespace {

using nlohmann::json;

constexpr int kManifestVersion = 1;

std::string textOf(const json& from, const char* key) {
  const auto found = from.find(key);
  return found != from.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> textsOf(const json& from, const char* key) {
  std::vector<std::string> texts;
  if (const auto found = from.find(key); found != from.end() && found->is_array())
    for (const json& text : *found)
      if (text.is_string())
        texts.push_back(text.get<std::string>());
  return texts;
}

template <typename Number>
Number numberOf(const json& from, const char* key) {
  const auto found = from.find(key);
  return found != from.end() && found->is_number_integer() ? found->get<Number>() : Number{};
}

}  // namespace

Result<void> writeManifest(const std::filesystem::path& folder, const Manifest& manifest) {
  const json out = {{"version", kManifestVersion},
                    {"session", manifest.session},
                    {"output", manifest.output.string()},
                    {"part", manifest.part.string()},
                    {"launcher_pid", manifest.launcherPid},
                    {"launcher_start_time", manifest.launcherStartTime},
                    {"boot_id", manifest.bootId},
                    {"job", manifest.job},
                    {"command", manifest.command},
                    {"redact", manifest.redact}};
  const std::filesystem::path path = folder / "manifest.json";
  const std::filesystem::path fresh = folder / "manifest.json.new";
  {
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file << out.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    file.close();
    if (!file)
      return Error{ErrorCode::Io,
                   fmt::format("{}: {}", fresh.string(), std::generic_category().message(errno))};
  }
  std::error_code failure;
  std::filesystem::rename(fresh, path, failure);
  if (failure)
    return Error{ErrorCode::Io, fmt::format("{}: {}", path.string(), failure.message())};
  return {};
}

Result<Manifest> readManifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "manifest.json";
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{ErrorCode::NotFound,
                 fmt::format("{}: {}", path.string(), std::generic_category().message(errno))};
  std::ostringstream text;
  text << file.rdbuf();
  const json in = json::parse(text.str(), nullptr, false);
  if (!in.is_object() || numberOf<int>(in, "version") != kManifestVersion ||
      textOf(in, "output").empty() || textOf(in, "part").empty())
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: is damaged, or from another version of Sonde", path.string())};
  Manifest manifest;
  manifest.session = textOf(in, "session");
  manifest.output = textOf(in, "output");
  manifest.part = textOf(in, "part");
  manifest.launcherPid = numberOf<std::int32_t>(in, "launcher_pid");
  manifest.launcherStartTime = numberOf<std::uint64_t>(in, "launcher_start_time");
  manifest.bootId = textOf(in, "boot_id");
  manifest.job = textOf(in, "job");
  manifest.command = textsOf(in, "command");
  manifest.redact = textsOf(in, "redact");
  return manifest;
}

std::uint64_t processStartTime(std::int32_t pid) {
  const auto stat = launcher::readProcessStat(pid);
  return stat ? stat->startTime : 0;
}

std::string currentBootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::string currentHostName() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace sonde::recorder
