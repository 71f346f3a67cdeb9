// Where the processes of a recording may write their spool files: on a file system that allocates
// what it promises, so that a full disk is an error in the writer's hand and never a SIGBUS in the
// job. Plain functions; main thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

inline constexpr std::uint64_t kDefaultSpoolLimit = 256ULL << 20;  // bytes a host

struct SpoolRequest {
  std::string place;  // --spool; empty: not given
  std::function<std::optional<std::string>(const std::string&)> variable;  // of the environment
  std::uint64_t limitBytes = kDefaultSpoolLimit;
};

// A folder that a spool may be put into, and whether it may.
struct PlaceCheck {
  std::filesystem::path place;
  bool usable = false;
  std::string fileSystem;        // "ext4", "tmpfs", …
  std::string why;               // when not usable
  std::uint64_t limitBytes = 0;  // the request's, or less where the place has less to give
  bool named = false;            // by --spool or $SONDE_SPOOL
};

// --spool, $SONDE_SPOOL, $TMPDIR, /tmp, /var/tmp: those that are given, in this order. `sonde
// recover` looks for abandoned sessions in the same ones, under sonde-<uid>/.
std::vector<std::filesystem::path> spoolPlaces(const SpoolRequest& request);

// ext4, xfs, overlayfs over these, btrfs without a quota; tmpfs with room to spare, or when the
// user has named it.
PlaceCheck checkPlace(const std::filesystem::path& place, bool named, std::uint64_t limitBytes);

// All of spoolPlaces, checked.
std::vector<PlaceCheck> checkPlaces(const SpoolRequest& request);
// The same, after making the folders that the user has named and that do not exist.
std::vector<PlaceCheck> makePlaces(const SpoolRequest& request);

// Makes `place`/sonde-<uid>/<pid>-<hex>, for this user alone.
Result<std::filesystem::path> makeSessionFolder(const std::filesystem::path& place);

// Removes it, and sonde-<uid>/ after the last one.
void removeSessionFolder(const std::filesystem::path& folder);

// Bytes that this process's memory cgroup may still take; nothing when there is no limit.
std::optional<std::uint64_t> cgroupHeadroom();

}  // namespace sonde::recorder
