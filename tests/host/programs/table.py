"""What comparisons found, kept in a file, and as the table of docs/host-programs.md."""
import json
import pathlib

HEAD = """| program | tests | sources | passed bare | passed under Sonde | differ | change bare |
|---|---|---|---|---|---|---|"""


def add(path, found):
    """Adds entries; a newer one replaces what the file has of the same test and way."""
    file = pathlib.Path(path)
    kept = {(e["program"], e["test"], e["way"]): e for e in (json.loads(file.read_text()) if file.exists() else [])}
    kept |= {(e["program"], e["test"], e["way"]): e for e in found}
    file.write_text(json.dumps(list(kept.values()), indent=1) + "\n")


def of(path):
    rows = {}
    for entry in json.loads(pathlib.Path(path).read_text()):
        rows.setdefault((entry["program"], entry["way"]), []).append(entry)
    lines = [HEAD]
    for (program, way), entries in rows.items():
        bare, recorded = (sum(e[what] for e in entries) for what in ("bare", "recorded"))
        flaky = sum(e["flaky"] for e in entries)
        differ = sum(e["bare"] and not e["recorded"] and not e["flaky"] for e in entries)
        lines.append(f"| {program} | {len(entries)} | {way} | {bare} | {recorded} | {differ} | {flaky} |")
    return "\n".join(lines)
