#include "tests/support/spool_folder.h"

#include "collector/wire/spool_format.h"

#include <stdlib.h>

#include <algorithm>
#include <cstddef>
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

void SpoolFolder::setLimit(std::uint64_t bytes) const {
  std::fstream session(path_ / "session", std::ios::binary | std::ios::in | std::ios::out);
  session.seekp(offsetof(wire::SessionPage, limitBytes));
  session.write(reinterpret_cast<const char*>(&bytes), sizeof bytes);
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
