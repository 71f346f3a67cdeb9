"""What the hang tests share: jobs that stand still, looked at alive and after they were killed."""
import json
import os
import pathlib
import signal
import subprocess

from run_support import PATIENCE, SONDE, RunTest, wait_until


def report(*traces, how="json"):
    result = subprocess.run([SONDE, "report", "--format", how, *map(str, traces)], capture_output=True, text=True,
                            timeout=PATIENCE)
    if result.returncode != 0:
        return None
    return json.loads(result.stdout) if how == "json" else result.stdout


def standstill(*traces):
    found = report(*traces)
    return found and found["standstill"]


STOP = ("--rules", "hang.toml", "--on-fire", "stop")  # needs write_rules()


class HangTest(RunTest):
    def setUp(self):
        super().setUp()
        self.jobs = []

    def tearDown(self):
        for job in self.jobs:
            if job.poll() is None:
                job.send_signal(signal.SIGTERM)
            job.wait(PATIENCE)
        super().tearDown()

    def start(self, *command, options=(), name="out.sonde", **environment):
        """One recording; its output."""
        output = self.folder / name
        self.jobs.append(subprocess.Popen(
            [SONDE, "run", "-f", "-o", str(output), *options, "--", *map(str, command)], cwd=self.folder,
            env={**self.environment, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return output

    @staticmethod
    def part(output):
        return output.with_name(output.name + ".part")

    def seen_alive(self, *outputs, knows=bool):
        """What a report on the unfinished traces says, once the job has stood still for long enough to say so, and
        `knows(answer)`."""
        parts = [self.part(output) for output in outputs]
        wait_until(lambda: all(part.exists() for part in parts), "the recording has begun")
        found = []

        def stands():
            found[:] = [standstill(*parts)]
            return found[0] and knows(found[0])
        wait_until(stands, "the report says that the job stands still")
        self.assertTrue(found[0]["running"])
        return found[0]

    def killed(self, *outputs, how=signal.SIGKILL):
        """The same of the traces, when all processes of the job have been sent the signal."""
        for job in self.jobs:
            for pid in pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split():
                os.kill(int(pid), how)
        for job in self.jobs:
            job.wait(PATIENCE)
        found = standstill(*outputs)
        self.assertIsNotNone(found)
        self.assertFalse(found["running"])
        return found

    def write_rules(self, threshold_s):
        (self.folder / "hang.toml").write_text(
            f'[rules]\nhang = {{ severity = "error", threshold_s = {threshold_s} }}\n')

    def statuses(self):
        return [job.wait(PATIENCE) for job in self.jobs]

    def check(self, *outputs):
        """Status and results of the rule on finished traces."""
        done = subprocess.run([SONDE, "check", *map(str, outputs), "--rules", "hang.toml", "--format", "json"],
                              cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        return done.returncode, json.loads(done.stdout)["results"]
