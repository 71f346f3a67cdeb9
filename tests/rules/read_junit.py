#!/usr/bin/env python3
"""Prints a JUnit document as JSON, or fails: checks it by the constraints of Jenkins's junit-10.xsd that Sonde's documents
can break.

read_junit.py FILE
"""
import json
import sys
import xml.etree.ElementTree as ElementTree

# element -> (required attributes, optional ones, elements inside)
SHAPES = {
    "testsuite": ({"name", "tests", "failures", "errors"}, {"skipped", "time", "timestamp", "hostname", "id"},
                  {"testcase", "properties", "system-out", "system-err"}),
    "testcase": ({"name"}, {"classname", "time", "group"}, {"failure", "error", "skipped", "system-out", "system-err"}),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
}


def check(element):
    required, optional, inside = SHAPES[element.tag]
    attributes = set(element.attrib)
    assert required <= attributes <= required | optional, f"{element.tag} has {sorted(attributes)}"
    for child in element:
        assert child.tag in inside, f"{child.tag} inside of {element.tag}"
        check(child)


def content(element):
    found = {"tag": element.tag, **element.attrib, "text": (element.text or "")}
    if len(element):
        found["text"] = ""
        found["children"] = [content(child) for child in element]
    return found


def main(path):
    root = ElementTree.parse(path).getroot()
    assert root.tag == "testsuite", root.tag
    check(root)
    count = {tag: len(root.findall(f"testcase/{tag}")) for tag in ("failure", "error", "skipped")}
    stated = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    for tag, attribute in stated.items():
        assert int(root.get(attribute)) == count[tag], attribute
    assert int(root.get("tests")) == len(root.findall("testcase"))
    print(json.dumps(content(root)))


main(sys.argv[1])
