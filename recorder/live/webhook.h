// Posts findings to an URL with libcurl, which is loaded only then. Any thread.
#pragma once

#include "base/result.h"
#include "recorder/live/reaction_queue.h"

#include <string>

namespace sonde::recorder {

// Posts the finding as JSON. Tries again three times, after 1, 2 and 4 s, if the server cannot be
// reached or answers with a status from 500 on. InvalidArgument: the URL is not http or https.
// Unsupported: libcurl.so.4 is not installed.
Result<ReactionQueue::React> postTo(const std::string& url);

}  // namespace sonde::recorder
