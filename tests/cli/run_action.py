#!/usr/bin/env python3
"""Runs the steps of action.yml as GitHub's runner does, with inputs NAME=VALUE, and exits with the status of the first step
that fails. Outputs of steps are printed to stderr.

run_action.py ACTION.YML NAME=VALUE…
"""
import os
import re
import subprocess
import sys
import tempfile

import yaml


def main(path, words):
    with open(path, encoding="utf-8") as file:
        action = yaml.safe_load(file)
    inputs = {name: str(value.get("default", "")) for name, value in action["inputs"].items()}
    inputs.update(word.split("=", 1) for word in words)
    for step in action["runs"]["steps"]:
        environment = {name: re.sub(r"\$\{\{ *inputs\.([a-z-]+) *\}\}", lambda found: inputs[found[1]], value)
                       for name, value in step["env"].items()}
        with tempfile.TemporaryDirectory() as folder:
            script, outputs = os.path.join(folder, "script.sh"), os.path.join(folder, "outputs")
            with open(script, "w", encoding="utf-8") as file:
                file.write(step["run"])
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], check=False,
                                  env={**os.environ, **environment, "GITHUB_OUTPUT": outputs})
            with open(outputs, encoding="utf-8") as file:
                sys.stderr.write(file.read())
        if done.returncode:
            return done.returncode
    return 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
