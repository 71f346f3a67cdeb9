#include "gui/app/options.h"

#include "gui/app/view_list.h"

#include <QRegularExpression>

#include <fmt/format.h>

#include <string>
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

}  // namespace

Parsed parseOptions(int argc, char** argv) {
  CLI::App app("Opens Sonde traces in a window.", "sonde-gui");
  app.footer(kFooter);
  std::vector<std::string> traces;
  std::string screenshot;
  std::string picture;
  std::string view = "overview";
  std::string size;
  std::string theme = "system";
  app.add_option("TRACE", traces, "Traces; several are the ranks of one job");
  app.add_option("--screenshot", screenshot, "Write this PNG and exit; needs no display")
      ->type_name("PNG");
  app.add_option(
         "--picture", picture, "Draw this SVG, which sonde wrote, as PNG instead of a trace")
      ->type_name("SVG")
      ->group("");  // hidden: it is for `sonde breakdown --plot`
  app.add_option("--view", view, "View to open: " + viewWords().toStdString())->type_name("VIEW");
  app.add_option("--size", size, "Window size in pixels (default 1440x900)")->type_name("WxH");
  app.add_option("--theme", theme, "Theme: system, light or dark")->type_name("THEME");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return {};
  } catch (const CLI::ParseError& error) {
    return {false, complain(std::string(error.what()) + ": see sonde-gui --help"), {}};
  }
  Options options;
  options.view = QString::fromStdString(view);
  if (viewOf(options.view) == nullptr)
    return {false,
            complain(fmt::format(
                "there is no view '{}': the views are {}", view, viewWords().toStdString())),
            {}};
  if (!size.empty())
    options.size = sizeOf(size);
  if (options.size.isEmpty())
    return {
        false,
        complain(fmt::format("--size {} is not a size: give WIDTHxHEIGHT in pixels, {} to {} each",
                             size,
                             kMinPixels,
                             kMaxPixels)),
        {}};
  if (theme != "system" && theme != "light" && theme != "dark")
    return {false,
            complain(fmt::format("there is no theme '{}': use system, light or dark", theme)),
            {}};
  options.theme = theme == "dark"    ? Options::Theme::Dark
                  : theme == "light" ? Options::Theme::Light
                                     : Options::Theme::System;
  options.screenshot = QString::fromStdString(screenshot);
  for (const std::string& trace : traces)
    options.traces << QString::fromStdString(trace);
  options.picture = QString::fromStdString(picture);
  if (!picture.empty() && (screenshot.empty() || !traces.empty()))
    return {
        false,
        complain(
            "--picture takes only --screenshot: sonde-gui --picture in.svg --screenshot out.png"),
        {}};
  if (!screenshot.empty() && traces.empty() && picture.empty())
    return {false,
            complain("--screenshot needs a trace: sonde-gui --screenshot out.png run.sonde"),
            {}};
  return {true, 0, options};
}

}  // namespace sonde::gui
