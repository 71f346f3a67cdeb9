#include "recorder/doctor/doctor.h"

#include "collector/wire/clock_source.h"
#include "recorder/environment/environment.h"
#include "recorder/environment/library_search.h"
#include "recorder/options/sources.h"
#include "recorder/system/energy_source.h"
#include "recorder/system/nvml_source.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

namespace sonde::recorder {

namespace {

namespace fs = std::filesystem;

// Prints the version of Python and, if installed, the version and folder of PyTorch, without
// importing it.
constexpr const char* kAskPython =
    "python3 -c 'import importlib.util as u, importlib.metadata as m, os, platform\n"
    "print(platform.python_version())\n"
    "s = u.find_spec(\"torch\")\n"
    "if s:\n"
    "  try: print(m.version(\"torch\"))\n"
    "  except m.PackageNotFoundError: print(\"unknown\")\n"
    "  print(os.path.dirname(s.origin or \"\"))\n"
    "' 2>/dev/null";

struct PythonFacts {
  std::string version;
  std::string torch;
  fs::path torchFolder;
};

std::vector<std::string> linesOf(const char* command) {
  std::vector<std::string> lines;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command, "re"), pclose);
  if (!pipe)
    return lines;
  std::array<char, 512> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    std::string line = buffer.data();
    while (!line.empty() && line.back() == '\n')
      line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

PythonFacts askPython() {
  auto lines = linesOf(kAskPython);
  lines.resize(3);
  return {lines[0], lines[1], lines[2]};
}

std::string firstLine(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string findHere(const std::string& name, const fs::path& besides) {
  const char* const folders = std::getenv("LD_LIBRARY_PATH");
  return findLibrary(name, folders == nullptr ? "" : folders, besides);
}

// Searches as the probe does: the loader's paths, the wheels next to torch, the toolkit.
std::string findCupti(const fs::path& torchFolder) {
  if (std::string found = findHere("libcupti.so.*", {}); !found.empty())
    return found;
  std::vector<std::string> patterns;
  if (!torchFolder.empty())
    patterns.push_back((torchFolder.parent_path() / "nvidia/*/lib/libcupti.so.*").string());
  patterns.emplace_back("/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.*");
  patterns.emplace_back("/usr/local/cuda*/lib64/libcupti.so.*");
  return firstMatch(patterns);
}

std::string findNccl(const fs::path& torchFolder) {
  if (std::string found = findHere("libnccl.so.2", torchFolder); !found.empty())
    return found;
  return torchFolder.empty()
             ? ""
             : firstMatch({(torchFolder.parent_path() / "nvidia/*/lib/libnccl.so.2").string()});
}

// libcupti.so.12 and .13, with any suffix.
bool isKnownCupti(const std::string& path) {
  const std::string version = path.substr(path.rfind(".so.") + 4);
  return version.starts_with("12") || version.starts_with("13") || version.starts_with("20");
}

ProbeReport cudaReport(const DoctorReport& report) {
  const std::string& cupti = report.versions.at("cupti");
  const char* const other = std::getenv("CUDA_INJECTION64_PATH");
  std::string why;
  if (report.versions.at("nvidia_driver").empty() && findHere("libcuda.so.1", {}).empty())
    why = "there is no NVIDIA driver";
  else if (cupti.empty())
    why = "there is no libcupti: pip install nvidia-cuda-cupti, or install the CUDA toolkit";
  else if (!isKnownCupti(cupti))
    why = fmt::format("{} is not from CUDA 12 or 13, the versions that this Sonde supports", cupti);
  else if (other != nullptr && *other != '\0')
    why = fmt::format("CUDA_INJECTION64_PATH gives CUPTI to another tool: {}", other);
  return {"cuda", why.empty(), why};
}

// Another tool's plugin keeps its place. A wheel's NCCL is next to torch.
ProbeReport ncclReport(const DoctorReport& report) {
  const std::string other = otherNcclPlugin(ownEnvironment());
  if (report.versions.at("nccl").empty())
    return {"nccl", false, "there is no libnccl"};
  std::string why;
  if (!other.empty())
    why = fmt::format("calls only: NCCL loads one profiler plugin, and this is another tool's: {}",
                      other);
  return {"nccl", true, why};
}

// A program may bring its own MPI; which one is known only when it runs.
std::string findMpi() {
  for (const char* name : {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12"}) {
    if (std::string found = findHere(name, {}); !found.empty())
      return found;
  }
  return "";
}

ProbeReport mpiReport(const DoctorReport& report) {
  if (report.versions.at("mpi").empty())
    return {"mpi", false, "there is no MPI: neither libmpi nor libmpich"};
  return {"mpi", true, ""};
}

// Always available; reports what is missing on this machine.
ProbeReport systemReport() {
  std::string lacks = system::whyNoNvml();
  if (!lacks.empty())
    lacks = fmt::format("no GPU readings: {}", lacks);
  const auto add = [&lacks](bool isThere, const char* what) {
    if (!isThere)
      lacks += fmt::format("{}{}", lacks.empty() ? "" : "; ", what);
  };
  add(!firstLine("/proc/pressure/cpu").empty(),
      "no pressure: the kernel does not report it (CONFIG_PSI, psi=1)");
  add(!firstMatch({"/sys/class/powercap/*/energy_uj"}).empty(),
      "no energy of processors: the kernel does not report it (RAPL)");
  add(firstMatch({"/sys/class/powercap/*/energy_uj"}).empty() ||
          !system::EnergySource(system::Roots()).isEmpty(),
      "no energy of processors: only root may read /sys/class/powercap");
  return {"system", true, lacks};
}

// The versions in python_layout.h.
ProbeReport stackReport(const std::string& python) {
  int minor = 0;
  const bool known = std::sscanf(python.c_str(), "3.%d", &minor) == 1 && minor >= 8 && minor <= 13;
  return {"stack",
          true,
          python.empty() || known
              ? ""
              : fmt::format("no Python functions: version {} is not between 3.8 and 3.13", python)};
}

// A preloaded allocator is recorded too, because Sonde intercepts calls before it.
ProbeReport memoryReport() {
  return {"memory", true, "not a malloc that is linked into the program, and not mmap"};
}

ProbeReport reportOf(const SourceName& source, const DoctorReport& report, bool libraryThere) {
  using wire::Probe;
  const auto version = [&](const char* name) { return report.versions.at(name); };
  if (!libraryThere)
    return {source.name, false, "Sonde's own library is missing: install Sonde again"};
  switch (source.probe) {
    case Probe::Torch:
    case Probe::Tensor:
      if (version("python").empty())
        return {source.name, false, "there is no python3 in $PATH"};
      if (version("torch").empty())
        return {source.name, false, "this python3 has no torch: start sonde in its environment"};
      return {source.name, true, ""};
    case Probe::Gloo:
      if (version("gloo").empty() && version("torch").empty())
        return {source.name, false, "there is no libgloo, and no torch that could contain one"};
      return {source.name, true, ""};
    case Probe::Cuda:
      return cudaReport(report);
    case Probe::Nccl:
      return ncclReport(report);
    case Probe::Mpi:
      return mpiReport(report);
    case Probe::System:
      return systemReport();
    case Probe::Python:
      if (version("python").empty())
        return {source.name, false, "there is no python3 in $PATH"};
      return {source.name, true, "functions only: not types, getters and ctypes"};
    case Probe::Stack:
      return stackReport(version("python"));
    case Probe::Memory:
      return memoryReport();
    case Probe::Sync:
      return {source.name, true, "not inside libgomp and libc: they call the kernel directly"};
    default:
      return {source.name, true, ""};
  }
}

}  // namespace

std::string clockDescription(const std::string& clockSource) {
  if (wire::trustsTsc(clockSource))
    return "the processor's time-stamp counter";
  return fmt::format("CLOCK_MONOTONIC, because the kernel's clock source is {}: records cost more",
                     clockSource.empty() ? "unknown" : clockSource);
}

DoctorReport examine(const SpoolRequest& request) {
  DoctorReport report;
  const PythonFacts python = askPython();
  utsname system{};
  uname(&system);
  report.versions["kernel"] = system.release;
  report.versions["glibc"] = gnu_get_libc_version();
  report.versions["python"] = python.version;
  report.versions["torch"] = python.torch;
  report.versions["gloo"] = findHere("libgloo.so*", python.torchFolder);
  report.versions["nccl"] = findNccl(python.torchFolder);
  report.versions["mpi"] = findMpi();
  report.versions["nvidia_driver"] = firstLine("/proc/driver/nvidia/version");
  report.versions["cupti"] = findCupti(python.torchFolder);
  report.versions["perf_event_paranoid"] = firstLine("/proc/sys/kernel/perf_event_paranoid");
  report.spool = checkPlaces(request);
  report.clock = clockDescription(firstLine(wire::kClockSourcePath));
  const bool libraryThere = static_cast<bool>(findInstallation());
  for (const SourceName& source : sourceNames())
    report.probes.push_back(reportOf(source, report, libraryThere));
  return report;
}

}  // namespace sonde::recorder
