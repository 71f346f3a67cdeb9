#include "cli/shell/progress_bar.h"

#include "analysis/store/scratch.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace sonde::cli {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(500);
constexpr auto kRedrawEvery = std::chrono::milliseconds(100);
constexpr std::size_t kBarWidth = 24;
constexpr std::string_view kErase = "\r\033[K";

// The only progress line. Never destroyed: abandoned work may still report.
struct Line {
  std::mutex mutex;
  std::condition_variable ended;
  std::string verb;  // the mutex guards all of these
  std::string what;
  double share = 0;
  bool active = false;
  bool now = false;
  bool lines = false;  // instead of a bar, whatever stderr is
  int percent = -1;    // of the last such line
  std::thread painter;
  std::atomic<bool> shown{false};
};

Line& line() {
  static Line* const kLine = new Line;
  return *kLine;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool wantsLines() {
  return variable("SONDE_PROGRESS") == "lines";
}

bool wanted() {
  if (wantsLines())
    return true;
  return isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb" &&
         variable("SONDE_PROGRESS") != "off";
}

void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Requires: the lock is held.
void draw(Line& bar) {
  const auto filled = static_cast<std::size_t>(bar.share * static_cast<double>(kBarWidth));
  const std::string tail =
      fmt::format(" [{:<{}}] {:3.0f}%", std::string(filled, '='), kBarWidth, bar.share * 100);
  std::string text = fmt::format("sonde {}: {}", bar.verb, bar.what);
  const std::size_t room = columns() - 1;  // a terminal may wrap at the last column
  text.resize(std::min(text.size(), room > tail.size() ? room - tail.size() : 0));
  bar.shown = true;
  put(fmt::format("{}{}{}", kErase, text, tail));
}

// Requires: the lock is held.
void drawLine(Line& bar) {
  const int percent = static_cast<int>(bar.share * 100);
  if (percent != bar.percent)
    put(fmt::format("{}% {}\n", percent, bar.what));
  bar.percent = percent;
}

void erase(Line& bar) {
  if (bar.shown.exchange(false))
    put(kErase);
}

void paint(Line& bar) {
  std::unique_lock lock(bar.mutex);
  auto until = kPatience;
  while (!bar.ended.wait_for(lock, until, [&] { return !bar.active; })) {
    draw(bar);
    until = kRedrawEvery;
  }
}

// Blocks signals, since the handlers rely on running in the main thread.
std::thread startPainter(Line& bar) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread painter([&bar] { paint(bar); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return painter;
}

// The painter starts with the first report, because `sonde run` forks before.
void report(std::string_view what, double share) {
  Line& bar = line();
  const std::lock_guard lock(bar.mutex);
  if (!bar.active)
    return;
  bar.what = what;
  bar.share = std::clamp(share, 0.0, 1.0);
  if (bar.lines)
    return drawLine(bar);
  if (!bar.painter.joinable())
    bar.painter = startPainter(bar);
  if (bar.now)
    draw(bar);
}

// Called before a signal ends the program. Async-signal-safe.
void eraseInHandler() noexcept {
  if (line().shown.load())
    (void)!write(STDERR_FILENO, kErase.data(), kErase.size());
}

}  // namespace

ProgressBar::ProgressBar(const char* verb) {
  Line& bar = line();
  store::Scratch::callBeforeTheEnd(eraseInHandler);
  const std::lock_guard lock(bar.mutex);
  bar.verb = verb;
  bar.active = wanted();
  bar.now = variable("SONDE_PROGRESS") == "now";
  bar.lines = wantsLines();
}

ProgressBar::~ProgressBar() {
  Line& bar = line();
  std::thread painter;
  {
    const std::lock_guard lock(bar.mutex);
    bar.active = false;
    painter = std::move(bar.painter);
    bar.ended.notify_all();
  }
  if (painter.joinable())
    painter.join();
  const std::lock_guard lock(bar.mutex);
  erase(bar);
}

Progress ProgressBar::progress() {
  return Progress(report);
}

void writeAroundBar(std::string_view text) {
  Line& bar = line();
  const std::lock_guard lock(bar.mutex);
  erase(bar);
  put(text);
}

}  // namespace sonde::cli
