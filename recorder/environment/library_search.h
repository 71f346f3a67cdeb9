// Where the loader would find a library, without loading it. Plain functions; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::recorder {

// Returns the first file that one of the patterns (glob(7)) matches; empty: none.
std::string firstMatch(const std::vector<std::string>& patterns);

// Searches the folder `besides`/lib, those of `libraryPath` (LD_LIBRARY_PATH) and the usual ones.
// `name` may be a pattern.
std::string findLibrary(const std::string& name,
                        const std::string& libraryPath,
                        const std::filesystem::path& besides);

// Returns the entry of the loader's cache (/etc/ld.so.cache) for this name; empty: none.
std::string findInLoaderCache(const std::string& name,
                              const std::filesystem::path& cache = "/etc/ld.so.cache");

}  // namespace sonde::recorder
