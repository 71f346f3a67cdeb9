// Writes a text to a file that the user named, so that it appears complete or not at all, and
// nothing else is lost. A link keeps pointing to the result. A device, a pipe, or a file that this
// program has open for writing (redirected standard output) gets the text appended. Plain
// functions; any thread.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string_view>

namespace sonde {

// Replaces the file. If the folder is not writable but the file is, overwrites it; only then can it
// be left incomplete. A read-only file stays. Io; the message is only the reason.
Result<void> writeWhole(const std::filesystem::path& file, std::string_view text);

// Whether writeWhole() should work. Changes nothing. Io, as above.
Result<void> checkWritable(const std::filesystem::path& file);

// Whether writing `file` would write or replace `name` or its target.
bool leadsTo(const std::filesystem::path& file, const std::filesystem::path& name);

}  // namespace sonde
