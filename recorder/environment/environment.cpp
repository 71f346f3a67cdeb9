#include "recorder/environment/environment.h"

#include "base/fnv1a.h"
#include "recorder/environment/job_identity.h"
#include "recorder/environment/library_search.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <system_error>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

using Environment = std::vector<std::string>;

constexpr const char* kNcclPlugin = "NCCL_PROFILER_PLUGIN";
constexpr const char* kStaticPlugin = "STATIC_PLUGIN";  // the plugin that is already in the process
constexpr const char* kDefaultPlugin = "libnccl-profiler.so";
// Also found under the name "sonde"
constexpr const char* kOwnPlugin = "libnccl-profiler-sonde.so";

// Whether the value of NCCL_PROFILER_PLUGIN means Sonde.
bool isOwnPlugin(const std::string& value) {
  return value == kStaticPlugin || value == "sonde" || value.ends_with(kOwnPlugin);
}

void unsetVariable(Environment& environment, const std::string& name) {
  const std::string prefix = name + "=";
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(prefix); });
}

void setVariable(Environment& environment, const std::string& name, const std::string& value) {
  unsetVariable(environment, name);
  environment.push_back(name + "=" + value);
}

void prependVariable(Environment& environment, const std::string& name, const std::string& value) {
  const auto old = findVariable(environment, name);
  const bool first = old && (*old == value || old->starts_with(value + ":"));
  if (!first)
    setVariable(environment, name, old && !old->empty() ? value + ":" + *old : value);
}

// Replaces another tool by Sonde, and passes its name to Sonde in `chain`.
void takePlace(Environment& environment,
               const std::string& variable,
               const std::string& chain,
               const std::string& preload) {
  const auto other = findVariable(environment, variable);
  if (other && !other->empty() && *other != preload)
    setVariable(environment, chain, *other);
  setVariable(environment, variable, preload);
}

}  // namespace

std::string otherNcclPlugin(const Environment& environment) {
  std::string named = findVariable(environment, kNcclPlugin).value_or("");
  if (isOwnPlugin(named))
    return "";
  if (!named.empty())
    return named;
  const std::string folders = findVariable(environment, "LD_LIBRARY_PATH").value_or("");
  const std::string found = findLibrary(kDefaultPlugin, folders, {});
  return found.empty() ? findInLoaderCache(kDefaultPlugin) : found;
}

Result<Installation> findInstallation() {
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  const fs::path folder = program.parent_path().parent_path() / "lib" / "sonde";
  const Installation installation{folder / "libsonde_preload.so", folder / "python"};
  if (failure || !fs::exists(installation.preload, failure))
    return Error{ErrorCode::NotFound,
                 fmt::format("{} is missing: install Sonde again", installation.preload.string())};
  if (installation.preload.string().find_first_of(" :") != std::string::npos)
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format(
            "{}: LD_PRELOAD cannot contain a blank or colon: move Sonde to a folder without them",
            installation.preload.string())};
  return installation;
}

std::string buildOf(const Installation& installation) {
  std::ifstream file(installation.preload, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return bytes.empty() ? std::string() : fmt::format("{:016x}", fnv1a(bytes));
}

Environment injectedEnvironment(const Environment& base,
                                const Installation& installation,
                                const InjectionRequest& request) {
  Environment environment = base;
  const std::string preload = installation.preload.string();
  takePlace(environment, "NVTX_INJECTION64_PATH", "SONDE_CHAIN_NVTX", preload);
  takePlace(environment, "CUDA_INJECTION64_PATH", "SONDE_CHAIN_CUDA", preload);
  // NCCL loads only one plugin: a user's own keeps its place.
  const bool named = !findVariable(environment, kNcclPlugin).value_or("").empty();
  if (!named && otherNcclPlugin(environment).empty())
    setVariable(environment, kNcclPlugin, kStaticPlugin);
  std::string libraries = preload;
  for (std::size_t at = 0; at < core::kCompanionCount; ++at) {
    const core::Companion& companion = core::kCompanions[at];
    std::string library = (installation.preload.parent_path() / companion.file).string();
    if (companion.probe == wire::Probe::Plugin) {
      for (const fs::path& plugin : request.plugins)
        library += ":" + plugin.string();
    }
    unsetVariable(environment, companion.variable);
    if ((request.companions & core::companionBit(at)) == 0)
      continue;
    setVariable(environment, companion.variable, library);
    if ((request.called & core::companionBit(at)) != 0)
      libraries += ":" + library;
  }
  prependVariable(environment, "LD_PRELOAD", libraries);
  prependVariable(environment, "PYTHONPATH", installation.pythonFolder.string());
  setVariable(environment, "SONDE_SESSION", request.spoolFolder.string());
  unsetVariable(environment, "SONDE_SOURCES");
  if (request.sources)
    setVariable(environment, "SONDE_SOURCES", *request.sources);
  setVariable(environment, "SONDE_CUDA_GRAPHS", request.cuda.graphs);
  unsetVariable(environment, "SONDE_CUDA_FLUSH");
  if (request.cuda.flushes)
    setVariable(environment, "SONDE_CUDA_FLUSH", "1");
  unsetVariable(environment, "SONDE_COUNTERS");
  if (!request.cuda.counters.empty())
    setVariable(environment, "SONDE_COUNTERS", request.cuda.counters);
  unsetVariable(environment, "SONDE_TORCH_OPERATORS");
  if (!request.torchOperators.empty())
    setVariable(environment, "SONDE_TORCH_OPERATORS", request.torchOperators);
  unsetVariable(environment, "SONDE_MODULE_CATEGORIES");
  if (!request.moduleCategories.empty())
    setVariable(environment, "SONDE_MODULE_CATEGORIES", request.moduleCategories);
  unsetVariable(environment, "SONDE_TENSORS");
  if (!request.tensorPlan.empty())
    setVariable(environment, "SONDE_TENSORS", request.tensorPlan);
  unsetVariable(environment, "SONDE_TENSOR_FOLDER");
  if (!request.tensorFolder.empty())
    setVariable(environment, "SONDE_TENSOR_FOLDER", request.tensorFolder.string());
  setVariable(environment, "SONDE_CUDA_UNIFIED_MEMORY", request.cuda.unifiedMemory);
  return environment;
}

Environment ownEnvironment() {
  Environment entries;
  for (char** entry = environ; *entry != nullptr; ++entry)
    entries.emplace_back(*entry);
  return entries;
}

}  // namespace sonde::recorder
