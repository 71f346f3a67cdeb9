"""What comparisons found, kept in a file, and as the table of docs/host-programs.md."""
import json
import pathlib

HEAD = """| program | tests | passed bare | passed under Sonde, default sources | all of the host's | unsteady, also bare |
|---|---|---|---|---|---|"""


def _key(entry):
    return entry["program"], entry["test"], entry["way"]


def add(path, found):
    """Adds entries; a newer one replaces what the file has of the same test and way."""
    file = pathlib.Path(path)
    kept = {_key(entry): entry for entry in (json.loads(file.read_text()) if file.exists() else [])}
    kept |= {_key(entry): entry for entry in found}
    file.write_text(json.dumps(list(kept.values()), indent=1) + "\n")


def _sum(entries, what):
    return sum(entry[what] for entry in entries)


def of(path):
    rows = {}
    for entry in json.loads(pathlib.Path(path).read_text()):
        rows.setdefault(entry["program"], {}).setdefault(entry["way"], []).append(entry)
    lines = [HEAD]
    for program, ways in rows.items():
        first = next(iter(ways.values()))
        recorded = (str(_sum(ways[way], "recorded")) if way in ways else "–" for way in ("default", "all"))
        unsteady = sum(_sum(entries, "flaky") for entries in ways.values())
        lines.append(f"| {program} | {_sum(first, 'tests')} | {_sum(first, 'bare')} | {' | '.join(recorded)} | {unsteady or ''} |")
    return "\n".join(lines)
