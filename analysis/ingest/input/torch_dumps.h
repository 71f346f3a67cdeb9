// Recognises dumps that PyTorch writes for diagnosis, by the first bytes of the file. Free
// functions; any thread.
#pragma once

#include <string_view>

namespace sonde::ingest {

// Whether it is a Python pickle: of protocol 2 to 5, or a dict of protocol 0 or 1.
bool beginsLikePickle(std::string_view head) noexcept;

// Whether JSON text is a dump of the NCCL flight recorder, by the names of its members. `head`
// should have some 64 KiB: the first members may be long.
bool beginsLikeFlightRecorder(std::string_view head);

}  // namespace sonde::ingest
