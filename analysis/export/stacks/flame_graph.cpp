#include "analysis/export/stacks/flame_graph.h"

#include "analysis/export/svg_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::exports {
namespace {

constexpr double kFlameWidth = 1200;
constexpr int kRow = 17;
constexpr int kTop = 40;
constexpr double kFlameLetter = 7.0;  // of the font below
constexpr double kLeast = 0.1;        // smallest width of a drawn frame, in pixels

// The picture's script. Each frame is a group with its begin and width, as shares of the whole, and
// its text.
constexpr std::string_view kScript = R"js(<script><![CDATA[
"use strict";
const frames = Array.from(document.getElementsByClassName("f"));
const data = frames.map(g => ({x: +g.dataset.x, w: +g.dataset.w, d: +g.dataset.d, t: g.dataset.t}));
function show(x, w, depth) {
  frames.forEach((g, i) => {
    const one = data[i], around = one.d <= depth && one.x <= x + 1e-12 && one.x + one.w >= x + w - 1e-12;
    const begin = around ? 0 : (one.x - x) / w, width = around ? 1 : one.w / w;
    const out = !around && (one.d <= depth || begin < -1e-9 || begin + width > 1 + 1e-9);
    g.style.display = out ? "none" : "";
    if (out) return;
    const [r, text] = [g.querySelector("rect"), g.querySelector("text")], room = Math.floor((width * 1200 - 4) / 7);
    r.setAttribute("x", begin * 1200);
    r.setAttribute("width", Math.max(width * 1200 - 0.5, 0.1));
    text.setAttribute("x", begin * 1200 + 3);
    text.textContent = room < 3 ? "" : one.t.length <= room ? one.t : one.t.slice(0, room - 2) + "..";
  });
}
frames.forEach((g, i) => g.addEventListener("click", () => show(data[i].x, data[i].w, data[i].d)));
document.documentElement.addEventListener("keydown", event => {
  if (event.key !== "/") return;
  event.preventDefault();
  const word = prompt("Frames that have:") || "";
  frames.forEach((g, i) => g.classList.toggle("m", word !== "" && data[i].t.includes(word)));
});
]]></script>
)js";

constexpr std::string_view kStyle =
    "<style>text{font:11px monospace;fill:#222}.f{cursor:pointer}.f:hover rect{stroke:#222}"
    ".m rect{fill:#c0f!important}.m text{fill:#fff}</style>\n";

// "step (train.py:12)": a function of Python.
bool isPython(std::string_view text) {
  const std::size_t open = text.rfind(" (");
  return text.ends_with(')') && open != std::string_view::npos &&
         text.find(".py:", open) != std::string_view::npos;
}

// A name has the same colour in every picture: reds for native code, blues for Python, grey for all
// else.
std::string colourOf(std::string_view text, std::uint32_t depth) {
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const char each : text)
    hash = (hash ^ static_cast<unsigned char>(each)) * 16777619;
  if (depth == 0 || text.starts_with('['))
    return "#c8c8c8";
  const auto tone = [hash](unsigned shift, std::uint32_t least, std::uint32_t range) {
    return least + (hash >> shift & 0xffU) % range;
  };
  return isPython(text)
             ? fmt::format(
                   "#{:02x}{:02x}{:02x}", tone(4, 100, 50), tone(12, 160, 40), tone(20, 215, 35))
             : fmt::format(
                   "#{:02x}{:02x}{:02x}", tone(4, 225, 28), tone(12, 120, 90), tone(20, 60, 45));
}

std::string shortened(const std::string& text, double width) {
  return svgShortened(text, static_cast<std::size_t>(std::max(0.0, (width - 4) / kFlameLetter)));
}

std::string amountOf(std::int64_t amount, bool isBytes) {
  return isBytes ? fmt::format("{:.3f} MB", static_cast<double>(amount) * 1e-6)
                 : fmt::format("{:.3f} s", static_cast<double>(amount) * 1e-9);
}

struct Picture {
  bool isBytes = false;
  std::int64_t wholeNs = 0;
  std::uint32_t depth = 0;

  double share(std::int64_t ns) const {
    return static_cast<double>(ns) / static_cast<double>(wholeNs);
  }
  int height() const { return kTop + static_cast<int>(depth + 1) * kRow + 8; }

  std::string frame(const PathTree::Box& box, const std::string& text) const {
    const double x = share(box.beginNs);
    const double width = share(box.ns);
    const int y = height() - 8 - static_cast<int>(box.depth + 1) * kRow;
    const std::string shown = svgEscaped(text);
    return fmt::format(
        "<g class=\"f\" data-x=\"{0:.9f}\" data-w=\"{1:.9f}\" data-d=\"{2}\" data-t=\"{3}\">"
        "<title>{3}\n{4}, {5:.2f} %</title>"
        "<rect x=\"{6:.2f}\" y=\"{7}\" width=\"{8:.2f}\" height=\"{9}\" fill=\"{10}\"/>"
        "<text x=\"{11:.2f}\" y=\"{12}\">{13}</text></g>\n",
        x,
        width,
        box.depth,
        shown,
        amountOf(box.ns, isBytes),
        100 * width,
        x * kFlameWidth,
        y,
        std::max(width * kFlameWidth - 0.5, kLeast),
        kRow - 1,
        colourOf(text, box.depth),
        x * kFlameWidth + 3,
        y + 12,
        svgEscaped(shortened(text, width * kFlameWidth)));
  }
};

}  // namespace

Result<void> writeFlameGraph(const PathTree& paths,
                             std::string_view title,
                             const FlameMeasure& measure,
                             OutputFile& output) {
  std::vector<PathTree::Box> boxes = paths.boxes();
  Picture picture{measure.isBytes};
  for (const PathTree::Box& box : boxes)
    if (box.depth == 0)
      picture.wholeNs += box.ns;
  std::erase_if(boxes, [&](const PathTree::Box& box) {
    return picture.share(box.ns) * kFlameWidth < kLeast;
  });
  for (const PathTree::Box& box : boxes)
    picture.depth = std::max(picture.depth, box.depth);
  SONDE_TRY(output.write(
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                  "viewBox=\"0 0 {0} {1}\">\n"
                  "{2}<rect width=\"100%\" height=\"100%\" fill=\"#fdfdfb\"/>\n"
                  "<text x=\"3\" y=\"16\" font-weight=\"bold\">{3}</text>\n"
                  "<text x=\"3\" y=\"31\">{4} of {5}; click: closer; /: mark</text>\n",
                  kFlameWidth,
                  picture.height(),
                  kStyle,
                  svgEscaped(title),
                  amountOf(picture.wholeNs, measure.isBytes),
                  measure.what)));
  for (const PathTree::Box& box : boxes)
    SONDE_TRY(output.write(picture.frame(box, paths.textOf(box.frame))));
  SONDE_TRY(output.write(kScript));
  return output.write("</svg>\n");
}

}  // namespace sonde::exports
