#!/usr/bin/env python3
"""Fails on what can be counted of hard prose: long lines and long sentences in the documents, comment sentences that open with
"Of …" or with a "What …" clause, and long commit subjects.

Run by ctest as `tree_english`. `check_english.py ROOT FILE…` looks at these files alone.
"""
import pathlib
import re
import subprocess
import sys

MAX_LINE = 200      # characters of a document's line, outside of tables and code
MAX_SENTENCE = 40   # words
MAX_SUBJECT = 72    # characters
CODE = (".h", ".cpp", ".c", ".cu", ".py", ".sh", ".cmake", "CMakeLists.txt", ".sql")
EXEMPT = ("third_party/", "docs/fuzzing.md", "LICENSE")
# "Of 29 faults 20 were caught" has its number for a subject.
BAD_OPENING = re.compile(r"^(Of (?!\d)|What (?!is\b.*\?$)(?!.*\?$))")
SENTENCE_END = re.compile(r"(?<=[.!?…])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)[\"')`*]*\s+(?=[`\"'(*\[]*[A-Z0-9`])")


def sentences(text):
    text = re.sub(r"`[^`]*`", "`x`", text)                    # a command counts as a word
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)      # a link as its words
    return [part.strip() for part in SENTENCE_END.split(text) if part.strip()]


def words(sentence):
    return len(re.findall(r"[\w`][\w`'’-]*", sentence))


def paragraphs(lines):
    """(first line, text, is it a table's cell) of a document: paragraphs, list items and cells, without code."""
    start, gathered, fenced = 0, [], False
    for number, line in enumerate(lines + [""], 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            fenced = not fenced
        opens = fenced or stripped.startswith(("```", "|", "#", "<", ">")) or not stripped
        item = re.match(r"([*+-]|\d+\.)\s+", stripped)
        if gathered and (opens or item):
            yield start, " ".join(gathered), False
            gathered = []
        if stripped.startswith("|") and not fenced:
            for cell in re.split(r"(?<!\\)\|", stripped.strip("|")):
                yield number, cell.strip(), True
        elif not opens:
            start = start if gathered else number
            gathered.append(stripped[item.end():] if item else stripped)


def document_faults(lines):
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if len(line) > MAX_LINE and not fenced and not line.lstrip().startswith("|"):
            yield number, f"{len(line)} characters, limit {MAX_LINE}"
    for number, text, _ in paragraphs(lines):
        for sentence in sentences(text):
            if words(sentence) > MAX_SENTENCE:
                yield number, f"a sentence of {words(sentence)} words, limit {MAX_SENTENCE}: {sentence[:60]}…"


def comments(name, lines):
    """(first line, text) of each comment: lines that follow one another and hold nothing else, or the end of a line."""
    mark = re.compile(r"^\s*(?://+|#(?!!|\s*(?:include|define|if|endif|else|elif|undef|pragma|error|ifdef|ifndef)\b)|--|\*(?!/)|/\*+)\s?(.*?)(?:\*/)?\s*$")
    trailing = re.compile(r"\S.*?\s(?://|/\*)\s+(.*?)(?:\*/)?\s*$")
    start, gathered = 0, []
    for number, line in enumerate(lines + [""], 1):
        match = mark.match(line)
        if match and match.group(1).strip():
            start = start if gathered else number
            gathered.append(match.group(1).strip())
            continue
        if gathered:
            yield start, " ".join(gathered)
            gathered = []
        end = trailing.match(line)
        if end and name.endswith((".h", ".cpp", ".c")) and '"' not in end.group(1):
            yield number, end.group(1)


def comment_faults(name, lines):
    for number, text in comments(name, lines):
        for sentence in sentences(text):
            if BAD_OPENING.match(sentence):
                yield number, f"a sentence that opens with \"{sentence.split()[0]}\": {sentence[:60]}…"


def subject_faults(root):
    git = ["git", "-C", str(root)]
    if subprocess.run([*git, "rev-parse", "--verify", "-q", "origin/HEAD"], capture_output=True, check=False).returncode:
        return
    log = subprocess.run([*git, "log", "--format=%h %s", "origin/HEAD..HEAD"], capture_output=True, text=True, check=True).stdout
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        if len(subject) > MAX_SUBJECT:
            yield f"commit {commit}: a subject of {len(subject)} characters, limit {MAX_SUBJECT}"


def main(root, names):
    if not names:
        listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
        names = [name for name in listed.split("\0") if name and (root / name).is_file()]
    errors = []
    for name in sorted(names):
        if name.startswith(EXEMPT):
            continue
        if name.endswith(".md"):
            faults = document_faults
        elif name.endswith(CODE):
            faults = lambda lines, name=name: comment_faults(name, lines)
        else:
            continue
        lines = (root / name).read_text(encoding="utf-8").splitlines()
        errors += [f"{name}:{number}: {fault}" for number, fault in faults(lines)]
    errors += subject_faults(root)
    print("\n".join(errors) or "tree english ok")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."), sys.argv[2:]))
