#include "gui/app/options.h"

#include "base/text/time_span.h"
#include "gui/app/view_list.h"

#include <QRegularExpression>

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sonde::gui {
namespace {

constexpr const char* kFooter = R"(Example:
  sonde-gui run.sonde
  sonde-gui --screenshot timeline.png --size 1920x1080 rank0.sonde rank1.sonde

Exit status: 0 success, 1 no font is installed, 2 wrong usage or no display,
3 a trace could not be read, or a picture could not be written.
In the window, ? lists the keys.)";
constexpr int kMinPixels = 200;
constexpr int kMaxPixels = 16384;

int complain(const std::string& what) {
  fmt::print(stderr, "sonde-gui: {}\n", what);
  return 2;
}

QSize sizeOf(const std::string& text) {
  static const QRegularExpression kForm(QStringLiteral("^(\\d{1,5})[xX](\\d{1,5})$"));
  const auto match = kForm.match(QString::fromStdString(text));
  if (!match.hasMatch())
    return {};
  const QSize size(match.captured(1).toInt(), match.captured(2).toInt());
  const bool fits = size.width() >= kMinPixels && size.height() >= kMinPixels &&
                    size.width() <= kMaxPixels && size.height() <= kMaxPixels;
  return fits ? size : QSize();
}

// "1.5s", or "1.2s..1.5s".
Result<Span> spanOf(const std::string& text) {
  if (text.find("..") != std::string::npos) {
    SONDE_TRY_ASSIGN(const TimeRange range, parseTimeRange(text));
    return Span{range.beginNs, range.endNs};
  }
  SONDE_TRY_ASSIGN(const std::int64_t moment, parseTimeSpan(text));
  return Span{moment, moment};
}

// As they are written on the command line.
struct Words {
  std::vector<std::string> traces;
  std::string screenshot;
  std::string picture;
  std::string view = "overview";
  std::string at;
  std::string select;
  std::string size;
  std::string theme;
};

void declare(CLI::App& app, Words& words) {
  app.footer(kFooter);
  app.add_option("TRACE", words.traces, "Traces; several are the ranks of one job");
  app.add_option("--screenshot", words.screenshot, "Write this PNG and exit; needs no display")
      ->type_name("PNG");
  app.add_option(
         "--picture", words.picture, "Draw this SVG, which sonde wrote, as PNG instead of a trace")
      ->type_name("SVG")
      ->group("");  // hidden: it is for `sonde breakdown --plot`
  app.add_option("--view", words.view, "View to open: " + viewWords().toStdString())
      ->type_name("VIEW");
  app.add_option("--at", words.at, "Time to show since the begin: 1.5s, or a span 1.2s..1.5s")
      ->type_name("TIME");
  app.add_option("--select", words.select, "Select the first event with this text in its name")
      ->type_name("NAME");
  app.add_option("--size", words.size, "Window size in pixels (default 1440x900)")
      ->type_name("WxH");
  app.add_option("--theme", words.theme, "Theme: system, light or dark")->type_name("THEME");
}

// InvalidArgument: the words contradict each other.
Result<void> checkTogether(const Words& words) {
  const auto wrong = [](const char* message) { return Error{ErrorCode::InvalidArgument, message}; };
  if (!words.picture.empty() && (words.screenshot.empty() || !words.traces.empty()))
    return wrong(
        "--picture takes only --screenshot: sonde-gui --picture in.svg --screenshot out.png");
  if (!words.screenshot.empty() && words.traces.empty() && words.picture.empty())
    return wrong("--screenshot needs a trace: sonde-gui --screenshot out.png run.sonde");
  return {};
}

// InvalidArgument: a word has another form.
Result<Options> optionsOf(const Words& words) {
  const auto wrong = [](std::string message) {
    return Error{ErrorCode::InvalidArgument, std::move(message)};
  };
  Options options;
  options.view = QString::fromStdString(words.view);
  if (viewOf(options.view) == nullptr)
    return wrong(fmt::format(
        "there is no view '{}': the views are {}", words.view, viewWords().toStdString()));
  if (!words.at.empty()) {
    const auto span = spanOf(words.at);
    if (!span)
      return wrong(fmt::format("--at {}: {}: give a time as in 1.5s, or a span as in 1.2s..1.5s",
                               words.at,
                               span.error().message));
    options.at = *span;
  }
  if (!words.size.empty())
    options.size = sizeOf(words.size);
  if (options.size && options.size->isEmpty())
    return wrong(fmt::format("--size {} is not a size: give WIDTHxHEIGHT in pixels, {} to {} each",
                             words.size,
                             kMinPixels,
                             kMaxPixels));
  options.look = lookOf(QString::fromStdString(words.theme));
  if (!options.look && !words.theme.empty())
    return wrong(fmt::format("there is no theme '{}': use system, light or dark", words.theme));
  for (const std::string& trace : words.traces)
    options.traces << QString::fromStdString(trace);
  options.screenshot = QString::fromStdString(words.screenshot);
  options.picture = QString::fromStdString(words.picture);
  options.select = QString::fromStdString(words.select);
  SONDE_TRY(checkTogether(words));
  return options;
}

}  // namespace

Parsed parseOptions(int argc, char** argv) {
  CLI::App app("Opens Sonde traces in a window.", "sonde-gui");
  Words words;
  declare(app, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return {};
  } catch (const CLI::ParseError& error) {
    return {false, complain(std::string(error.what()) + ": see sonde-gui --help"), {}};
  }
  auto options = optionsOf(words);
  if (!options)
    return {false, complain(options.error().message), {}};
  return {true, 0, *std::move(options)};
}

}  // namespace sonde::gui
