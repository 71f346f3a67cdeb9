#!/usr/bin/env python3
"""Fails unless a document is SARIF 2.1.0 as far as Sonde uses it: properties, required ones, types, enumerations, and the
constraints between properties that are only in the standard's text.

check_sarif.py FILE
"""
import json
import re
import sys
import urllib.parse

KIND = {"notApplicable", "pass", "fail", "review", "open", "informational"}
LEVEL = {"none", "note", "warning", "error"}
# object -> property -> type; `!` marks a required property, a list an array of that type.
OBJECTS = {
    "sarifLog": {"$schema": str, "version!": {"2.1.0"}, "runs!": ["run"], "properties": dict},
    "run": {"tool!": "tool", "invocations": ["invocation"], "results": ["result"], "properties": dict},
    "tool": {"driver!": "toolComponent"},
    "toolComponent": {"name!": str, "version": str, "semanticVersion": str, "informationUri": "uri",
                      "rules": ["reportingDescriptor"], "properties": dict},
    "reportingDescriptor": {"id!": str, "name": str, "shortDescription": "multiformat", "fullDescription": "multiformat",
                            "help": "multiformat", "helpUri": "uri", "defaultConfiguration": "configuration",
                            "properties": dict},
    "multiformat": {"text!": str, "markdown": str},
    "configuration": {"enabled": bool, "level": LEVEL, "rank": float},
    "invocation": {"executionSuccessful!": bool, "exitCode": int, "toolExecutionNotifications": ["notification"],
                   "toolConfigurationNotifications": ["notification"]},
    "notification": {"message!": "message", "level": LEVEL, "associatedRule": "reference"},
    "reference": {"id": str, "index": int},
    "message": {"text": str, "markdown": str, "id": str, "arguments": [str]},
    "result": {"ruleId": str, "ruleIndex": int, "kind": KIND, "level": LEVEL, "message!": "message",
               "locations": ["location"], "partialFingerprints": dict, "suppressions": ["suppression"],
               "properties": dict},
    "location": {"id": int, "physicalLocation": "physicalLocation", "logicalLocations": ["logicalLocation"],
                 "message": "message"},
    "physicalLocation": {"artifactLocation": "artifactLocation", "region": "region"},
    "artifactLocation": {"uri": "uri", "uriBaseId": str, "index": int},
    "region": {"startLine": int, "startColumn": int, "endLine": int, "endColumn": int},
    "logicalLocation": {"name": str, "fullyQualifiedName": str, "kind": str, "index": int},
    "suppression": {"kind!": {"inSource", "external"}, "status": {"accepted", "underReview", "rejected"},
                    "justification": str},
}
URI = re.compile(r"([a-z]+:)?[A-Za-z0-9\-._~!$&'()*+,;=:@/]*(%[0-9A-F]{2}[A-Za-z0-9\-._~!$&'()*+,;=:@/]*)*\Z")


def check(value, kind, where):
    if isinstance(kind, list):
        assert isinstance(value, list), where
        for number, each in enumerate(value):
            check(each, kind[0], f"{where}[{number}]")
    elif isinstance(kind, set):
        assert value in kind, f"{where}: {value!r} is none of {sorted(kind)}"
    elif kind == "uri":
        assert isinstance(value, str) and URI.match(value), f"{where}: {value!r} is no URI"
        assert urllib.parse.urlsplit(value).scheme in ("", "file", "https"), f"{where}: {value!r}"
    elif isinstance(kind, str):
        check_object(value, kind, where)
    else:
        assert isinstance(value, kind) and (kind is bool or not isinstance(value, bool)), f"{where}: {value!r}"


def check_object(value, name, where):
    assert isinstance(value, dict), f"{where} is no object"
    known = {key.rstrip("!"): kind for key, kind in OBJECTS[name].items()}
    for key in (key[:-1] for key in OBJECTS[name] if key.endswith("!")):
        assert key in value, f"{where} lacks {key}"
    for key, each in value.items():
        assert key in known, f"{where} has {key}"
        check(each, known[key], f"{where}.{key}")


def check_run(run):
    """What the schema does not say."""
    rules = run["tool"]["driver"].get("rules", [])
    assert len({rule["id"] for rule in rules}) == len(rules), "a rule is there twice"
    assert len(run["results"]) <= 5000, "GitHub keeps 5000 results"
    assert len({"suppressions" in result for result in run["results"]}) <= 1, "suppressions of some results only"
    for number, result in enumerate(run["results"]):
        where = f"results[{number}]"
        assert result["message"].get("text") or result["message"].get("id"), where
        assert result.get("kind", "fail") == "fail" or result.get("level", "none") == "none", f"{where}: level of no failure"
        if "ruleIndex" in result:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"], f"{where}: ruleIndex"
        for location in result.get("locations", []):
            assert location.get("physicalLocation", {}).get("region", {}).get("startLine", 1) >= 1, f"{where}: line"
        assert all(isinstance(each, str) for each in result["partialFingerprints"].values()), where


def main(path):
    with open(path, encoding="utf-8", errors="strict") as file:
        document = json.load(file)
    check_object(document, "sarifLog", "log")
    assert len(document["runs"]) <= 20, "GitHub takes 20 runs"
    for run in document["runs"]:
        check_run(run)


main(sys.argv[1])
