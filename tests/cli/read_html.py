#!/usr/bin/env python3
"""Reads a report of `sonde report --format html` as XML and prints what it has as JSON. Fails if it is not well-formed, has
two elements of one id or a link to none, or needs anything outside of the file.

read_html.py FILE
"""
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

# Attributes that make a browser load something.
LOADING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "manifest", "ping"}


def text_of(element):
    return "".join(element.itertext())


def with_class(root, name):
    return [each for each in root.iter() if name in each.get("class", "").split()]


def check_alone(root):
    for element in root.iter():
        for name, value in element.attrib.items():
            assert name not in LOADING, f"{element.tag} has {name}"
            assert not name.startswith("on"), f"{element.tag} runs {name}"
            assert name != "href" or value.startswith("#"), f"{element.tag} leads to {value}"
            assert "url(" not in value, f"{element.tag} loads {value}"
        assert element.tag not in {"link", "iframe", "object", "embed", "img", "base"}, element.tag
        if element.tag == "style":
            assert not re.search(r"url\(|@import|//", element.text), "the style sheet loads something"


def check_links(root):
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(ids) == len(set(ids)), f"an id occurs twice: {sorted(ids)}"
    for link in root.iter("a"):
        assert link.get("href")[1:] in ids, link.get("href")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    assert page.startswith("<!DOCTYPE html>")
    root = ElementTree.fromstring(page)
    check_alone(root)
    check_links(root)
    tally = {each[0].tail.strip(): each[0].text for each in root.find(".//ul[@class='tally']")}
    json.dump({
        "headings": [text_of(each) for each in root.iter() if each.tag in ("h1", "h2", "h3")],
        "fired": [text_of(each.find("h3")) for each in with_class(root, "finding")],
        "tally": tally,
        "links": [each.get("href") for each in root.iter("a")],
        "plots": len(with_class(root, "plot")),
        "outliers": len(with_class(root, "outlier")),
        "most_bars": max((len(each) for each in with_class(root, "bars")), default=0),
        "scripts": len(list(root.iter("script"))),
        "text": text_of(root.find("body")),
    }, sys.stdout)


if __name__ == "__main__":
    main()
