#include "recorder/calibrate/cost_cache.h"

#include "recorder/environment/machine.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;
using engine::correction::MeasuredCost;
using nlohmann::json;

constexpr int kVersion = 1;

std::string variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return {};
}

// A replaced interpreter has another identity.
std::string identityOf(const std::string& program) {
  struct stat info {};
  if (program.empty() || ::stat(program.c_str(), &info) != 0)
    return program;
  return fmt::format(
      "{} {} {}.{}", program, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

json costJson(const MeasuredCost& cost) {
  return {{"probe", cost.probe},
          {"api", cost.api},
          {"before_ns", cost.cost.beforeNs},
          {"inside_ns", cost.cost.insideNs},
          {"after_ns", cost.cost.afterNs},
          {"error_ns", cost.errorNs},
          {"unrecorded_ns", cost.unrecordedNs}};
}

std::optional<MeasuredCost> costOf(const json& from) {
  MeasuredCost cost;
  const auto text = [&](const char* key, std::string& into) {
    const auto found = from.find(key);
    if (found == from.end() || !found->is_string())
      return false;
    into = found->get<std::string>();
    return true;
  };
  const auto number = [&](const char* key, double& into) {
    const auto found = from.find(key);
    if (found == from.end() || !found->is_number())
      return false;
    into = found->get<double>();
    return true;
  };
  cost.method = engine::correction::method::kMicroLoop;
  const bool isWhole = from.is_object() && text("probe", cost.probe) && text("api", cost.api) &&
                       number("before_ns", cost.cost.beforeNs) &&
                       number("inside_ns", cost.cost.insideNs) &&
                       number("after_ns", cost.cost.afterNs) && number("error_ns", cost.errorNs) &&
                       number("unrecorded_ns", cost.unrecordedNs);
  return isWhole ? std::optional(std::move(cost)) : std::nullopt;
}

}  // namespace

fs::path costCacheFolder(const std::vector<std::string>& environment) {
  // The XDG Base Directory Specification ignores relative paths.
  if (const fs::path cache = variable(environment, "XDG_CACHE_HOME"); cache.is_absolute())
    return cache / "sonde";
  const fs::path home = variable(environment, "HOME");
  return home.is_absolute() ? home / ".cache" / "sonde" : fs::path();
}

CostCache::CostCache(fs::path folder, const CostCacheKey& key) : folder_(std::move(folder)) {
  utsname system{};
  ::uname(&system);
  key_ = fmt::format("{}|{} {}|{}|{}|{:x}",
                     cpuModel(),
                     system.release,
                     system.machine,
                     key.build,
                     identityOf(key.python),
                     key.probeMask);
  file_ = folder_ / fmt::format("costs-{:016x}.json", std::hash<std::string>{}(key_));
}

std::optional<CachedCosts> CostCache::read(std::chrono::sys_seconds now) const {
  constexpr std::size_t kMostBytes = 1 << 20;
  if (folder_.empty())
    return std::nullopt;
  std::ifstream file(file_, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  const json in = json::parse(text, nullptr, false);
  if (!in.is_object() || in.value("version", json()) != kVersion ||
      in.value("key", json()) != key_ || !in.value("measured", json()).is_number_integer() ||
      !in.value("costs", json()).is_array())
    return std::nullopt;
  CachedCosts found;
  found.measured =
      std::chrono::sys_seconds(std::chrono::seconds(in["measured"].get<std::int64_t>()));
  if (found.measured > now || now - found.measured > kOldest)
    return std::nullopt;
  for (const json& each : in["costs"]) {
    auto cost = costOf(each);
    if (!cost)
      return std::nullopt;
    found.costs.push_back(*std::move(cost));
  }
  return found;
}

// Writes under another name first, so that readers find either the whole new file or the old one.
void CostCache::write(const CachedCosts& found) const {
  if (folder_.empty())
    return;
  json costs = json::array();
  for (const MeasuredCost& cost : found.costs)
    costs.push_back(costJson(cost));
  const json out = {{"version", kVersion},
                    {"key", key_},
                    {"measured", found.measured.time_since_epoch().count()},
                    {"costs", std::move(costs)}};
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  const fs::path fresh = fmt::format("{}.{}.new", file_.string(), ::getpid());
  {
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file << out.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    file.close();
    if (!file) {
      fs::remove(fresh, ignored);
      return;
    }
  }
  fs::rename(fresh, file_, ignored);
}

}  // namespace sonde::recorder
