#!/usr/bin/env python3
"""Fails unless action.yml and the files in docs/ci.md are YAML with the keys that GitHub and GitLab expect, fit each other,
and have shell that parses.

Run by ctest as `tree_ci`.
"""
import pathlib
import re
import subprocess
import sys

import yaml

BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPRESSION = re.compile(r"\$\{\{ *inputs\.([a-z-]+) *\}\}")


class UniqueKeys(yaml.SafeLoader):
    """YAML whose mappings have each key once, as the services require."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        assert len(set(keys)) == len(keys), f"a key is there twice: {keys}"
        return super().construct_mapping(node, deep)


def load(text):
    return yaml.load(text, Loader=UniqueKeys)


def check_shell(script):
    parsed = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
    assert parsed.returncode == 0, parsed.stderr


def check_action(action):
    assert set(action) == {"name", "description", "inputs", "outputs", "runs"}, sorted(action)
    assert action["runs"]["using"] == "composite"
    used = set()
    for step in action["runs"]["steps"]:
        assert set(step) <= {"id", "name", "if", "shell", "env", "run", "uses", "with"} and step["shell"] == "bash"
        check_shell(step["run"])
        assert "${{" not in step["run"], "an input is inside of the script, which could run it: hand it over by env"
        for value in step["env"].values():
            used.update(EXPRESSION.findall(value))
        for name in step["env"]:
            assert name in step["run"], f"{name} is not used"
    assert used == set(action["inputs"]), f"inputs {sorted(action['inputs'])}, of which {sorted(used)} are used"
    for name, value in action["inputs"].items():
        assert set(value) <= {"description", "required", "default"} and value["description"], name
        assert value.get("required") or "default" in value, f"{name} has no default"


def check_github(workflow, action):
    assert True in workflow or "on" in workflow, "no trigger"  # YAML 1.1 reads `on` as true
    for job in workflow["jobs"].values():
        assert {"runs-on", "steps"} <= set(job), sorted(job)
        assert job["permissions"]["security-events"] == "write", "upload-sarif needs it"
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), step
            check_shell(step.get("run", ""))
        own = [step for step in job["steps"] if step.get("uses") == "./sonde"]
        assert own, "the action is not used"
        for step in own:
            assert set(step["with"]) <= set(action["inputs"]), sorted(step["with"])
            assert all(name in step["with"] for name, value in action["inputs"].items() if value.get("required"))
        uploads = [step for step in job["steps"] if "upload-sarif" in step.get("uses", "")]
        assert uploads and uploads[0]["with"]["sarif_file"] == own[0]["with"]["sarif-file"]


def check_gitlab(pipeline):
    for job in pipeline.values():
        assert set(job) <= {"stage", "image", "script", "allow_failure", "artifacts"}, sorted(job)
        check_shell("\n".join(job["script"]))
        assert job["artifacts"]["reports"]["junit"] in job["script"][-1], "the report is another file"
        assert job["artifacts"]["when"] == "always", "a failed job keeps no report"


def main(root):
    action = load((root / "action.yml").read_text(encoding="utf-8"))
    check_action(action)
    workflow, pipeline = (load(block) for block in BLOCK.findall((root / "docs/ci.md").read_text(encoding="utf-8")))
    check_github(workflow, action)
    check_gitlab(pipeline)
    print("ci files ok")


main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
