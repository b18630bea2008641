import argparse
import json
import sys
from pathlib import Path

from . import dedup, machine, measure
from .results import Results


def number_from_1(text):
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench-report",
        description="Builds octobloom and its peers, measures them, and makes one page of it.",
        epilog="--rounds, --largest and --filter shorten a run.",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true", help="two sizes, small batches")
    length.add_argument("--full", action="store_true", help="every combination at every size; takes long")
    parser.add_argument("--rounds", type=number_from_1, metavar="N",
                        help="measurements of each workload, of which the median counts (3; quick: 1)")
    parser.add_argument("--largest", type=number_from_1, metavar="MIB", help="no filters above this size")
    parser.add_argument("--filter", metavar="REGEX", help="only the benchmarks whose names match")
    parser.add_argument("--lines", type=number_from_1, metavar="N",
                        help="lines of the deduplicated log (10000000; quick: 1000000)")
    parser.add_argument("--no-dedup", action="store_true", help="leave the deduplication out")
    parser.add_argument("--from", dest="source", type=Path, metavar="JSON",
                        help="measure nothing: make the page of this bench.json")
    parser.add_argument("--out", type=Path, default=measure.ROOT / "build/bench-report", metavar="FOLDER",
                        help="where bench.json, report.md and index.html go (build/bench-report)")
    return parser.parse_args()


def measured(options):
    """What was measured, which is also written to bench.json as it comes."""

    def keep():
        (options.out / "bench.json").write_text(json.dumps(data, indent=1) + "\n")

    programs = measure.build(options.out)
    data = measure.run_benchmark(programs, options)
    data["machine"] = machine.describe()
    keep()
    if not options.no_dedup:
        lines = options.lines or (1_000_000 if options.quick else 10_000_000)
        data["dedup"] = dedup.compare(programs, lines, options.out, 1 if options.quick else 3)
        keep()
    return data


def load(file):
    try:
        return json.loads(file.read_text())
    except json.JSONDecodeError as problem:
        raise ValueError(f"{file} is not JSON: {problem}") from problem


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    data = load(options.source) if options.source else measured(options)
    results = Results(data)
    from . import page  # matplotlib takes its time; errors come before
    page.write(results, options.out)
    print(f"bench-report: {options.out / 'index.html'}, {options.out / 'report.md'}")


try:
    main()
except (OSError, ValueError, RuntimeError) as problem:
    print(f"bench-report: {problem}", file=sys.stderr)
    sys.exit(2)
except KeyboardInterrupt:
    sys.exit(130)
