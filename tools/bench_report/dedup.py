"""octobloom dedup, sort -u and DuckDB's SELECT DISTINCT over one file, each written to a file."""

import json
import os
import subprocess
import sys
import time
from statistics import median

from .measure import say

THREADS = 2

# Prints the seconds of the query alone, not of Python's start.
# Lines as they are: a character that is in none of them separates columns, and nothing quotes.
DUCKDB = f"""
import duckdb, sys, time
connection = duckdb.connect()
connection.execute("SET threads = {THREADS}")
connection.execute("SET preserve_insertion_order = false")
connection.execute("SET enable_progress_bar = false")
start = time.monotonic()
connection.execute(f'''
  COPY (SELECT DISTINCT line FROM read_csv('{{sys.argv[1]}}', columns = {{{{'line': 'VARCHAR'}}}},
          header = false, auto_detect = false, delim = '\x01', quote = '', escape = ''))
  TO '{{sys.argv[2]}}' (FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '', ESCAPE '')''')
print(time.monotonic() - start)
"""


def _run(command, environment, output):
    """Seconds, those that the command prints or those of its whole run, and its peak bytes. A
    command that takes no name for its output prints it."""
    start = time.monotonic()
    if output in command:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        printed = process.stdout.read()
    else:
        with open(output, "wb") as file:
            process = subprocess.Popen(command, env=environment, stdout=file)
        printed = ""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with status {process.returncode}")
    return float(printed) if printed else seconds, usage.ru_maxrss * 1024


def _make_log(programs, lines, log):
    if log.exists():
        return
    say(f"making {log}")
    part = log.with_suffix(".part")
    with open(part, "w") as output:
        # About half of the lines are repeats.
        subprocess.run([programs / "example_email_log", str(lines), str(max(1, lines * 7 // 10))],
                       stdout=output, check=True)
    part.rename(log)


def compare(programs, lines, out, rounds):
    """What the three took: {lines, bytes, threads, runs: [{name, seconds, peak_bytes, …}]}."""
    log = out / f"mail-{lines}.txt"
    _make_log(programs, lines, log)
    result = out / "dedup.out"
    report = out / "dedup.report"
    commands = {
        # Not by -o, which waits until the disk has the output; the others do not.
        "octobloom": [programs / "octobloom", "dedup", "-q", "-j", str(THREADS),
                      "--report", report, log],
        "sort -u": ["sort", "-u", f"--parallel={THREADS}", "-o", result, log],
        "DuckDB": [sys.executable, "-c", DUCKDB, log, result],
    }
    taken = {name: [] for name in commands}
    peaks = dict.fromkeys(commands, 0)
    lines_out = {}
    environment = {**os.environ, "LC_ALL": "C"}
    for _ in range(rounds):
        for name, command in commands.items():
            say(f"dedup: {name}")
            result.unlink(missing_ok=True)
            seconds, peak = _run(command, environment, result)
            taken[name].append(seconds)
            peaks[name] = max(peaks[name], peak)
            with open(result, "rb") as output:
                lines_out[name] = sum(piece.count(b"\n") for piece in iter(lambda: output.read(1 << 24), b""))
    ours = json.loads(report.read_text())
    # A filter may lose a line; the others are exact.
    lost = lines_out["sort -u"] - lines_out["octobloom"]
    if lines_out["DuckDB"] != lines_out["sort -u"] or not 0 <= lost <= 10 + 10 * ours["expected_lost"]:
        raise RuntimeError(f"dedup: the answers differ: {lines_out} lines")
    runs = [{"name": name, "seconds": median(taken[name]), "peak_bytes": peaks[name],
             "lines_out": lines_out[name]} for name in commands]
    runs[0]["filter_bytes"] = ours["filter_bytes"]
    result.unlink()
    report.unlink()
    return {"lines": lines, "bytes": log.stat().st_size, "threads": THREADS, "runs": runs}
