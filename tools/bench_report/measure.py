"""Builds the programs and runs octobloom-bench."""

import json
import os
import subprocess
from importlib import util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def say(text):
    print(f"bench-report: {text}", flush=True)


def build(out):
    """Builds what is measured, beside the results, and returns the folder of the programs."""
    tree = out.resolve() / "build"
    log = tree.with_suffix(".log")
    say(f"building in {tree}")
    # The package's libraries hold two of the peers. Importing it is not needed.
    pyarrow = Path(util.find_spec("pyarrow").origin).parent
    commands = [
        ["cmake", "--preset", "release", "-B", tree, "-DOCTOBLOOM_TESTS=OFF", "-DOCTOBLOOM_CUDA=OFF",
         "-DOCTOBLOOM_BENCH=ON", "-DOCTOBLOOM_EXAMPLES=ON", f"-DOCTOBLOOM_PYARROW={pyarrow}"],
        ["cmake", "--build", tree, "--parallel", str(os.cpu_count()),
         "--target", "octobloom_bench", "octobloom_cli", "example_email_log"],
    ]
    with open(log, "w") as output:
        for command in commands:
            if subprocess.run(command, cwd=ROOT, stdout=output, stderr=output).returncode != 0:
                raise RuntimeError(f"the build failed; {log} says why")
    for line in log.read_text().splitlines():
        if "peers:" in line:
            say(line.split(": ", 1)[1])
    return tree / "bin"


def run_benchmark(programs, options):
    """Runs octobloom-bench and returns its JSON."""
    json_file = options.out / "bench.json.part"
    json_file.unlink(missing_ok=True)
    rounds = options.rounds or (1 if options.quick else 3)
    command = [programs / "octobloom-bench", f"--rounds={rounds}", "--benchmark_min_time=0.05",
               f"--benchmark_out={json_file}", "--benchmark_out_format=json"]
    command += [f"--{name}" for name in ("quick", "full") if getattr(options, name)]
    if options.largest:
        command.append(f"--largest={options.largest}")
    if options.filter:
        command.append(f"--benchmark_filter={options.filter}")
    say("measuring: " + " ".join(map(str, command)))
    status = subprocess.run(command).returncode
    if status != 0:
        raise RuntimeError(f"octobloom-bench ended with status {status}")
    text = json_file.read_text()
    if not text:
        raise RuntimeError(f"no benchmark matches '{options.filter}'")
    json_file.unlink()
    return json.loads(text)
