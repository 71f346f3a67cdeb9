#include "recorder/environment/library_search.h"

#include <glob.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace sonde::recorder {

namespace fs = std::filesystem;

std::string firstMatch(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    glob_t found{};
    std::string path;
    if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0 && found.gl_pathc > 0)
      path = found.gl_pathv[0];
    globfree(&found);
    if (!path.empty())
      return path;
  }
  return "";
}

std::string findLibrary(const std::string& name,
                        const std::string& libraryPath,
                        const fs::path& besides) {
  std::vector<std::string> patterns;
  if (!besides.empty())
    patterns.push_back((besides / "lib" / name).string());
  std::istringstream list(libraryPath);
  for (std::string folder; std::getline(list, folder, ':');)
    if (!folder.empty())
      patterns.push_back((fs::path(folder) / name).string());
  for (const char* folder :
       {"/usr/local/lib/", "/usr/lib/*-linux-gnu/", "/usr/lib64/", "/usr/lib/"})
    patterns.push_back(folder + name);
  return firstMatch(patterns);
}

// The cache's strings are names and paths, each ended by a zero.
std::string findInLoaderCache(const std::string& name, const fs::path& cache) {
  std::ifstream file(cache, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // does not throw when it cannot be read, as iterators do
  const std::string bytes = text.str();
  const std::string end = "/" + name + '\0';
  const std::size_t at = bytes.find(end);
  if (at == std::string::npos)
    return "";
  const std::size_t begin = bytes.rfind('\0', at) + 1;
  return bytes.substr(begin, at - begin) + "/" + name;
}

}  // namespace sonde::recorder
