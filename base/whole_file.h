// Writing a text to a file that the user has named, so that it appears whole or not at all, and
// nothing else is lost: a link leads to what is written; a device, a pipe and what this program has
// open for writing (standard output, sent to a file) get the text after what they have. Plain
// functions; any thread.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string_view>

namespace sonde {

// Replaces the file. One that may be written, in a folder that may not, is overwritten instead: it
// alone can be left cut. One that may not be written stays. Io, with the reason alone as message.
Result<void> writeWhole(const std::filesystem::path& file, std::string_view text);

// Whether writeWhole() can be expected to work. Leaves everything as it is. Io, as above.
Result<void> checkWritable(const std::filesystem::path& file);

// Whether writing `file` would write, or replace, what `name` is or leads to.
bool leadsTo(const std::filesystem::path& file, const std::filesystem::path& name);

}  // namespace sonde
