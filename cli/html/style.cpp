#include "cli/html/style.h"

namespace sonde::cli {

// The colours of series are those of Okabe and Ito, which stay distinct with any kind of colour
// vision.
const std::string_view kReportStyle = R"css(
:root { color-scheme: light dark;
  --paper: #fff; --ink: #1c2128; --soft: #59636e; --line: #d9dee4; --tint: #f5f7f9;
  --link: #0b5cad; --bad: #b3261e; --bad-tint: #fdf0ef; --warn: #8a5300; --warn-tint: #fdf5e6;
  --good: #1a7f37; --c0: #0072b2; --c1: #e69f00; --c2: #009e73; --c3: #cc79a7; --c4: #56b4e9;
  --c5: #d55e00; --c6: #7a6ad8; --c7: #999999; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14181d; --ink: #e3e7ec; --soft: #98a2ad; --line: #2e353d; --tint: #1b2027;
  --link: #79b8ff; --bad: #ff8a80; --bad-tint: #2d1a1a; --warn: #f0b849; --warn-tint: #2b2415;
  --good: #56d364; --c0: #4aa8e0; --c6: #9d90f0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main, header, .column { max-width: 1060px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 32px; }
h1 { font-size: 24px; line-height: 1.3; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 0 0 12px; padding-top: 20px; border-top: 1px solid var(--line); }
h3 { font-size: 15px; margin: 20px 0 8px; }
p { margin: 0 0 10px; max-width: 76ch; }
section { margin: 28px 0; }
a { color: var(--link); text-decoration: none; }
code { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", "Liberation Mono", monospace; }
.soft, .note { color: var(--soft); }
.note { font-size: 13px; }
nav { margin: 4px 0 0; font-size: 14px; }
nav a { display: inline-block; margin: 0 16px 4px 0; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(210px, 1fr));
  gap: 12px 24px; margin: 20px 0; }
.facts dt { color: var(--soft); font-size: 13px; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.missing { border-left: 3px solid var(--warn); background: var(--warn-tint);
  padding: 8px 14px; margin: 12px 0; }
.missing p { margin: 2px 0; max-width: none; }
.tally { display: flex; flex-wrap: wrap; gap: 8px 28px; margin: 0 0 16px; padding: 0;
  list-style: none; }
.tally b { font-size: 22px; margin-right: 6px; }
.tally .fired b { color: var(--bad); } .tally .insufficient b { color: var(--warn); }
.tally .error b { color: var(--bad); } .tally .pass b { color: var(--good); }
.finding { border: 1px solid var(--line); border-left: 4px solid var(--warn);
  border-radius: 4px; padding: 12px 16px; margin: 0 0 12px; background: var(--tint); }
.finding.error { border-left-color: var(--bad); } .finding.info { border-left-color: var(--c0); }
.finding h3 { margin: 0 0 4px; } .finding p { margin: 0 0 6px; max-width: none; }
.finding h3 .entity { font-weight: normal; color: var(--soft); margin-left: 8px; }
.tag { float: right; font-size: 12px; color: var(--soft); margin-left: 12px; }
.next { margin: 6px 0 0; padding: 0; list-style: none; }
.next code { overflow-wrap: anywhere; }
details { margin: 8px 0; } summary { cursor: pointer; color: var(--link); font-size: 14px; }
.evidence { font-size: 13px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13.5px; margin: 4px 0 8px; }
th, td { text-align: left; padding: 4px 18px 4px 0; vertical-align: top;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
td { overflow-wrap: break-word; }
#verdicts td:first-child { white-space: nowrap; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.plot { width: 100%; height: auto; display: block; margin: 4px 0; }
.plot text { font-size: 12px; fill: var(--soft); font-family: inherit; }
.plot .grid { stroke: var(--line); stroke-width: 1; }
.plot .line { fill: none; stroke: var(--c); stroke-width: 1.6; stroke-linejoin: round;
  stroke-linecap: round; }
.plot .dot { fill: var(--c); }
.plot .outlier { fill: none; stroke: var(--bad); stroke-width: 1.8; }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); }
.c4 { --c: var(--c4); } .c5 { --c: var(--c5); } .c6 { --c: var(--c6); } .c7 { --c: var(--c7); }
.legend { font-size: 13px; margin: 2px 0 8px; max-width: none; color: var(--soft); }
.legend .key { display: inline-block; width: 11px; height: 11px; border-radius: 2px;
  background: var(--c); margin-right: 6px; }
.legend span { margin-right: 16px; }
.bars { margin: 6px 0; }
.bar { display: flex; align-items: center; margin: 4px 0; font-size: 13px; }
.bar .label { flex: 0 0 190px; padding-right: 12px; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; }
.bar .track { flex: 1 1 auto; display: flex; height: 22px; }
.bar .part { display: block; background: var(--c); color: #fff; overflow: hidden;
  font-size: 12px; line-height: 22px; padding: 0; text-align: center; white-space: nowrap; }
.bar .part.c1, .bar .part.c4, .bar .part.c7 { color: #111; }
.bar .sum { flex: 0 0 84px; text-align: right; color: var(--soft);
  font-variant-numeric: tabular-nums; }
.small { display: grid; grid-template-columns: repeat(auto-fill, minmax(440px, 1fr));
  gap: 4px 28px; }
footer { max-width: 1060px; margin: 32px auto; padding: 12px 24px; color: var(--soft);
  font-size: 13px; border-top: 1px solid var(--line); }
@media print { nav { display: none; } .finding { break-inside: avoid; } }
)css";

}  // namespace sonde::cli
