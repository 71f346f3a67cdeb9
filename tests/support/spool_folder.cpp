#include "tests/support/spool_folder.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

namespace sonde::test {

SpoolFolder::SpoolFolder(std::uint64_t limitBytes, const std::filesystem::path& place) {
  std::string name = (place / "sonde-test-XXXXXX").string();
  path_ = ::mkdtemp(name.data());
  alignas(wire::SessionPage) char bytes[sizeof(wire::SessionPage)] = {};
  auto* session = new (bytes) wire::SessionPage{};
  session->version = wire::kSpoolVersion;
  session->probeMask = ~0U;
  session->limitBytes = limitBytes;
  session->recording.store(1);
  std::ofstream(path_ / "session", std::ios::binary).write(bytes, sizeof bytes);
}

SpoolFolder::~SpoolFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

namespace {

void overwrite(const std::filesystem::path& file,
               std::size_t offset,
               const void* bytes,
               std::size_t count) {
  std::fstream session(file, std::ios::binary | std::ios::in | std::ios::out);
  session.seekp(static_cast<std::streamoff>(offset));
  session.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
}

}  // namespace

void SpoolFolder::setLimit(std::uint64_t bytes) const {
  overwrite(path_ / "session", offsetof(wire::SessionPage, limitBytes), &bytes, sizeof bytes);
}

void SpoolFolder::setCapture(const wire::CaptureRule& rule) const {
  overwrite(path_ / "session", offsetof(wire::SessionPage, capture), &rule, sizeof rule);
}

void SpoolFolder::setCalibration(const wire::CalibrationRule& rule) const {
  overwrite(path_ / "session", offsetof(wire::SessionPage, calibration), &rule, sizeof rule);
}

std::vector<std::filesystem::path> SpoolFolder::files() const {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    if (entry.path().extension() == ".spool")
      found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace sonde::test
