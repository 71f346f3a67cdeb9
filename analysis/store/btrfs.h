// What is peculiar to btrfs: a page of a mapped file that has been written out gets a new block
// when it is written again, so it may find no room, which kills the program (SIGBUS). Elsewhere a
// page keeps the block that it has. Any thread.
#pragma once

#include <filesystem>

namespace sonde::store {

// Whether a file in this folder is on btrfs, also below an overlay.
bool isOnBtrfs(const std::filesystem::path& folder);

// Whether a quota limits a subvolume of the btrfs that `folder` is on. At its limit not even a file
// that is not copied on write keeps its pages' blocks. Before Linux 5.9 only root could tell:
// false.
bool hasBtrfsQuota(const std::filesystem::path& folder);

}  // namespace sonde::store
