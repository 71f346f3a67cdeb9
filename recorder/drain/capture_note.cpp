#include "recorder/drain/capture_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace sonde::recorder {

namespace {

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

void noteRing(Drainer& drainer, const RecorderWords& words) {
  const std::int64_t asked = words.lastNs.load();
  if (asked == 0)
    return;
  const std::int64_t kept =
      std::clamp<std::int64_t>(words.seenNs.load() - words.completeFromNs.load(), 0, asked);
  drainer.notes().setMeta("last_ns", std::to_string(asked));
  drainer.notes().setMeta("kept_ns", std::to_string(kept));
  drainer.notes().setMeta("discarded", std::to_string(words.discardedBytes.load()));
  if (words.discardedSlots.load() == 0)
    return;
  drainer.noteEvent(
      fmt::format("a flight recorder kept the last {:.4g} s, and more of some threads; it dropped "
                  "older records",
                  seconds(kept)));
  if (words.cutShortSlots.load() > 0 && kept < asked)
    drainer.noteWarning(
        fmt::format("only the last {:.4g} s of {:.4g} s were kept: the spool had no room for more: "
                    "raise --spool-limit",
                    seconds(kept),
                    seconds(asked)));
}

}  // namespace

void noteCapture(Drainer& drainer, const SessionPage& page) {
  const RecorderWords& words = page.words();
  const std::string rule(words.capture, ::strnlen(words.capture, sizeof words.capture));
  if (!rule.empty())
    drainer.notes().setMeta("capture", rule);
  if (const std::uint32_t block = page.calibration().blockIterations; block != 0)
    drainer.notes().setMeta("calibrate", std::to_string(block));
  if (const std::uint32_t pauses = words.pauses.load(); pauses > 0)
    drainer.notes().setMeta("paused", std::to_string(pauses));
  noteRing(drainer, words);
}

}  // namespace sonde::recorder
