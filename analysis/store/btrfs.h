// Detects btrfs. There, a page of a mapped file that was written out gets a new block when it is
// written again. The disk may have no room for it, which kills the program (SIGBUS). On other file
// systems a page keeps its block. Any thread.
#pragma once

#include <filesystem>

namespace sonde::store {

// Whether a file in this folder is on btrfs, also below an overlay.
bool isOnBtrfs(const std::filesystem::path& folder);

// Whether a quota limits a subvolume of the btrfs that `folder` is on. At its limit even files
// without copy-on-write cannot rewrite their pages. Before Linux 5.9 only root can find out; then
// false.
bool hasBtrfsQuota(const std::filesystem::path& folder);

}  // namespace sonde::store
