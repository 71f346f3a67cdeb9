// One line on stderr that says how far long work is: on a terminal alone, and only when the work
// takes a while. SONDE_PROGRESS=off hides it, SONDE_PROGRESS=now shows it from the first moment.
// Made and ended on the main thread, one at a time; the work may report from any thread. What a
// verb says meanwhile goes through complain(), which writes around it.
#pragma once

#include "base/progress.h"

#include <string>
#include <string_view>

namespace sonde::cli {

class ProgressBar {
 public:
  explicit ProgressBar(const char* verb);
  ~ProgressBar();  // takes it from the screen
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // May outlive the bar, and is then heard by nobody.
  static Progress progress();
};

// Writes to stderr where the bar is.
void writeAroundBar(std::string_view text);

}  // namespace sonde::cli
