// One line on stderr with the progress of long work; shown only on a terminal, and only if the work
// takes a while. SONDE_PROGRESS=off hides it; SONDE_PROGRESS=now shows it at once;
// SONDE_PROGRESS=lines writes a line for each per cent instead, to any stderr, for programs.
// Created and destroyed on the main thread, one at a time; the work may report from any thread.
// Messages of the verb must go through complain(), which writes around the line.
#pragma once

#include "base/progress.h"

#include <string>
#include <string_view>

namespace sonde::cli {

class ProgressBar {
 public:
  explicit ProgressBar(const char* verb);
  ~ProgressBar();  // removes it from the screen
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // May outlive the bar; its reports are then ignored.
  static Progress progress();
};

// Writes to stderr without damaging the bar.
void writeAroundBar(std::string_view text);

}  // namespace sonde::cli
