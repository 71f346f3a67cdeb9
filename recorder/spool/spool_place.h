// Where the processes of a recording may write their spool files: on a file system that really
// allocates the space that it promises. A full disk is then an error for the writer, never a SIGBUS
// in the job. Plain functions; main thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

inline constexpr std::uint64_t kDefaultSpoolLimit = 256ULL << 20;  // bytes per host

struct SpoolRequest {
  std::string place;  // --spool; empty: not given
  std::function<std::optional<std::string>(const std::string&)> variable;  // of the environment
  std::uint64_t limitBytes = kDefaultSpoolLimit;
};

// A candidate folder for a spool, and whether it is usable.
struct PlaceCheck {
  std::filesystem::path place;
  bool usable = false;
  std::string fileSystem;        // "ext4", "tmpfs", …
  std::string why;               // if not usable: the reason
  std::uint64_t limitBytes = 0;  // the requested limit, or less if the place has less room
  bool named = false;            // by --spool or $SONDE_SPOOL
};

// --spool, $SONDE_SPOOL, $TMPDIR, /tmp, /var/tmp: those that are set, in this order. `sonde
// recover` looks for abandoned sessions in the same places, under sonde-<uid>/.
std::vector<std::filesystem::path> spoolPlaces(const SpoolRequest& request);

// Accepts ext4, xfs, overlayfs over these, and btrfs without a quota. Accepts tmpfs with enough
// room, or if the user has named it.
PlaceCheck checkPlace(const std::filesystem::path& place, bool named, std::uint64_t limitBytes);

// The results for all spoolPlaces().
std::vector<PlaceCheck> checkPlaces(const SpoolRequest& request);
// The same. Makes a folder that the user has named and that does not exist, unless a place before
// it is usable.
std::vector<PlaceCheck> makePlaces(const SpoolRequest& request);

// Creates `place`/sonde-<uid>/<pid>-<hex>, accessible to this user only.
Result<std::filesystem::path> makeSessionFolder(const std::filesystem::path& place);

// Removes it, and also sonde-<uid>/ if it was the last one.
void removeSessionFolder(const std::filesystem::path& folder);

// Bytes that this process's memory cgroup may still use; unset: no limit.
std::optional<std::uint64_t> cgroupHeadroom();

}  // namespace sonde::recorder
