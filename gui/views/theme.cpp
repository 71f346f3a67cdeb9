#include "gui/views/theme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace sonde::gui {
namespace {

constexpr QRgb kSlate = 0xff8a9bb3;
constexpr QRgb kSky = 0xff56b4e9;
constexpr QRgb kBlue = 0xff0072b2;
constexpr QRgb kGreen = 0xff009e73;
constexpr QRgb kOrange = 0xffe69f00;
constexpr QRgb kVermilion = 0xffd55e00;
constexpr QRgb kPurple = 0xffcc79a7;
constexpr QRgb kYellow = 0xffe9d94f;
constexpr QRgb kTeal = 0xff8fcabf;
constexpr QRgb kWine = 0xff882255;
constexpr QRgb kGrey = 0xffb4b4b4;
constexpr QRgb kLavender = 0xffa79fd8;
constexpr QRgb kOlive = 0xff8aa83a;

struct Group {
  const char* label;
  QRgb color;
  std::vector<Kind> kinds;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> kGroups = {
      {"Iteration", kSlate, {Kind::Iteration, Kind::MicroStep}},
      {"Forward", kSky, {Kind::Forward}},
      {"Backward", kBlue, {Kind::Backward}},
      {"Optimizer", kGreen, {Kind::Optimizer}},
      {"Data loading, I/O", kOrange, {Kind::DataLoad, Kind::Io}},
      {"Kernel (a shade for each name)", kOlive, {Kind::Kernel}},
      {"Collective", kVermilion, {Kind::Collective, Kind::CollectiveKernel}},
      {"Send, receive, copy, set", kPurple, {Kind::Send, Kind::Receive, Kind::Copy, Kind::Set}},
      {"Operation, phase, range, mark (likewise)",
       kYellow,
       {Kind::Operation, Kind::Phase, Kind::Range, Kind::Mark}},
      {"Module, operator (likewise)", kTeal, {Kind::Module, Kind::Operator}},
      {"Evaluation, checkpoint", kWine, {Kind::Evaluation, Kind::Checkpoint}},
      {"API, Python", kLavender, {Kind::Api, Kind::Python}},
      {"Wait, sync",
       kGrey,
       {Kind::Wait,
        Kind::StreamSync,
        Kind::ContextSync,
        Kind::EventSync,
        Kind::EventRecord,
        Kind::EventWait}},
  };
  return kGroups;
}

constexpr std::array<QRgb, 11> kByName = {
    kSky, kBlue, kGreen, kOrange, kVermilion, kPurple, kYellow, kTeal, kLavender, kSlate, kWine};

// Neighbours differ in hue and lightness.
constexpr std::array<QRgb, 13> kByNumber = {kBlue,
                                            kOrange,
                                            kGreen,
                                            kVermilion,
                                            kSky,
                                            kWine,
                                            kYellow,
                                            kPurple,
                                            kTeal,
                                            kSlate,
                                            kLavender,
                                            kOlive,
                                            kGrey};

// WCAG 2.1, relative luminance.
double luminance(const QColor& color) {
  const auto linear = [](double part) {
    return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
         0.0722 * linear(color.blueF());
}

// FNV-1a: qHash() may change between releases of Qt.
std::size_t hashOf(const QString& name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const QChar& unit : name)
    hash = (hash ^ unit.unicode()) * 0x100000001b3;
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

constexpr double kDisabled = 0.6;  // the share of the background in the text

// Whole 8-bit steps, as on the screen.
QColor mixed(const QColor& a, const QColor& b, double shareOfB) {
  const auto part = [&](int x, int y) {
    return static_cast<int>(std::lround(x * (1.0 - shareOfB) + y * shareOfB));
  };
  return {part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue())};
}

// The share of white in a shade; below 0 the share of black.
constexpr std::array<double, 8> kShades = {0.55, 0.4, 0.26, 0.13, 0.0, -0.13, -0.26, -0.38};

QColor shadeOf(const QColor& color, double shade) {
  return mixed(color, shade > 0 ? QColor(Qt::white) : QColor(Qt::black), std::abs(shade));
}

bool hasShades(Kind kind) {
  switch (kind) {
    case Kind::Phase:
    case Kind::Operation:
    case Kind::Range:
    case Kind::Mark:
    case Kind::Module:
    case Kind::Operator:
    case Kind::Kernel:
      return true;
    default:
      return false;
  }
}

QColor fillOf(Kind kind) {
  if (kind == Kind::Receive || kind == Kind::Set)  // the lighter of the pair
    return mixed(QColor::fromRgb(kPurple), QColor(Qt::white), 0.4);
  for (const Group& group : groups())
    if (std::find(group.kinds.begin(), group.kinds.end(), kind) != group.kinds.end())
      return QColor::fromRgb(group.color);
  return QColor::fromRgb(kYellow);
}

QColor withAlpha(QColor color, int alpha) {
  color.setAlpha(alpha);
  return color;
}

}  // namespace

Theme::Theme(const QPalette& palette)
    : background(palette.color(QPalette::Base)),
      panel(palette.color(QPalette::Window)),
      text(palette.color(QPalette::WindowText)),
      dark_(palette.color(QPalette::Window).lightnessF() < 0.5F) {
  panelStrong = mixed(panel, text, dark_ ? 0.12 : 0.08);
  dimText = mixed(text, panel, 0.35);
  grid = mixed(background, text, dark_ ? 0.12 : 0.09);
  border = mixed(background, text, dark_ ? 0.28 : 0.22);
  lifeStrong = mixed(QColor::fromRgb(kSlate), panel, 0.25);
  life = mixed(panelStrong, lifeStrong, 0.35);
  selection = dark_ ? QColor(0xff, 0xff, 0xff) : QColor(0x10, 0x10, 0x18);
  selectionFill = withAlpha(QColor(0x33, 0x77, 0xdd), dark_ ? 70 : 48);
  mark = dark_ ? QColor(0xff, 0x8f, 0xa3) : QColor(0xb0, 0x10, 0x40);
  curve = dark_ ? QColor(0x6f, 0xc2, 0xc4) : QColor(0x1f, 0x7a, 0x8c);
  arrow = dark_ ? QColor(0xff, 0xe0, 0x8a) : QColor(0x20, 0x20, 0x38);
  highlight = withAlpha(selection, 150);
}

QColor Theme::fill(Kind kind) const {
  return fillOf(kind);
}

QColor Theme::fill(Kind kind, const QString& name) const {
  const QColor base = fill(kind);
  return hasShades(kind) ? shadeOf(base, kShades.at(hashOf(name) % kShades.size())) : base;
}

QColor Theme::fill(const QString& name) const {
  return QColor::fromRgb(kByName.at(hashOf(name) % kByName.size()));
}

QColor Theme::fill(ColorBy by, std::optional<Kind> kind, const QString& name) const {
  const bool isByName = !kind || (by == ColorBy::Name && !name.isEmpty());
  return isByName ? fill(name) : fill(*kind, name);
}

QColor Theme::ofNumber(std::size_t number) {
  const std::size_t round = number / kByNumber.size() % kShades.size();
  const QColor color(kByNumber.at(number % kByNumber.size()));
  return round == 0 ? color : shadeOf(color, kShades.at(round - 1));
}

QColor Theme::faded(const QColor& fill, double share) const {
  return mixed(background, fill, share);
}

QColor Theme::textOn(const QColor& fill) {
  constexpr double kEqual = 0.1791;  // (1 + 0.05) / (L + 0.05) = (L + 0.05) / 0.05
  return luminance(fill) > kEqual ? QColor(Qt::black) : QColor(Qt::white);
}

std::vector<LegendEntry> Theme::legend() {
  std::vector<LegendEntry> entries;
  for (const Group& group : groups()) {
    LegendEntry entry{QString::fromUtf8(group.label), {}, group.kinds};
    if (hasShades(group.kinds.front()))
      for (const double shade : kShades)
        entry.colors.push_back(shadeOf(QColor::fromRgb(group.color), shade));
    for (const Kind kind : group.kinds)
      if (std::find(entry.colors.begin(), entry.colors.end(), fillOf(kind)) == entry.colors.end())
        entry.colors.push_back(fillOf(kind));
    entries.push_back(std::move(entry));
  }
  return entries;
}

QPalette plainPalette(bool dark) {
  QPalette palette(dark ? QColor(0x25, 0x28, 0x2d) : QColor(0xf2, 0xf3, 0xf5));
  palette.setColor(QPalette::Base, dark ? QColor(0x1b, 0x1d, 0x21) : QColor(Qt::white));
  palette.setColor(QPalette::AlternateBase,
                   dark ? QColor(0x21, 0x24, 0x29) : QColor(0xf7, 0xf8, 0xfa));
  const QColor ink = dark ? QColor(0xe4, 0xe6, 0xea) : QColor(0x1c, 0x1f, 0x24);
  for (const auto role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText})
    palette.setColor(role, ink);
  palette.setColor(QPalette::ToolTipBase,
                   dark ? QColor(0x30, 0x34, 0x3b) : QColor(0xff, 0xff, 0xff));
  palette.setColor(QPalette::Link, dark ? QColor(0x6c, 0xb2, 0xf2) : QColor(0x1f, 0x5f, 0xb4));
  palette.setColor(QPalette::Highlight, QColor(0x2f, 0x6f, 0xc4));
  palette.setColor(QPalette::HighlightedText, Qt::white);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(
        QPalette::Disabled, role, mixed(ink, palette.color(QPalette::Window), kDisabled));
  palette.setColor(QPalette::PlaceholderText, mixed(ink, palette.color(QPalette::Base), 0.5));
  return palette;
}

}  // namespace sonde::gui
