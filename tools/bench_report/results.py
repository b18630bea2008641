"""The measurements of one run, by workload."""

from dataclasses import dataclass
from statistics import median

COMMON = {"bits": "10", "hits": "50", "keys": "integers", "threads": "1"}


@dataclass(frozen=True)
class Measured:
    ns: float  # a key, the median of the rounds
    rounds: int
    bytes: float
    fpr: float | None
    label: str


class Results:
    def __init__(self, data):
        """Takes Google Benchmark's JSON, with `machine` and `dedup` where there are any."""
        if not isinstance(data, dict) or not isinstance(data.get("benchmarks"), list):
            raise ValueError("this is not the JSON of octobloom-bench: it has no list 'benchmarks'")
        self.context = data.get("context", {})
        self.machine = data.get("machine", {})
        self.dedup = data.get("dedup")
        rounds = {}
        for entry in data["benchmarks"]:
            if entry.get("run_type") != "aggregate" and not entry.get("error_occurred"):
                rounds.setdefault(_workload(entry["name"]), []).append(entry)
        if not rounds:
            raise ValueError("there is no measurement in this JSON")
        self._measured = {workload: _median(entries) for workload, entries in rounds.items()}

    def get(self, what, who, mib, **other):
        """Measured, or None; of the common workload where `other` does not say otherwise."""
        return self._measured.get(_key({"what": what, "who": who, "MiB": f"{mib:g}",
                                        **COMMON, **other}))

    def sizes(self, what=None, who=None):
        return sorted({float(dict(key)["MiB"]) for key in self._measured
                       if what in (None, dict(key)["what"]) and who in (None, dict(key)["who"])})

    def contenders(self, what):
        """In the order in which they were measured, those of the largest filters first."""
        found = [dict(key) for key in self._measured if dict(key)["what"] == what]
        found.sort(key=lambda workload: -float(workload["MiB"]))
        return list(dict.fromkeys(workload["who"] for workload in found))

    def variations(self, who):
        """The workloads of `who` that are not the common one, without sizes and operation."""
        seen = {}
        for key in self._measured:
            workload = dict(key)
            other = {name: workload[name] for name in COMMON}
            if workload["who"] == who and other != COMMON:
                seen[tuple(other.items())] = other
        return list(seen.values())


def _workload(name):
    parts = dict(part.split(":", 1) for part in name.split("/") if ":" in part)
    if not {"what", "who", "MiB", *COMMON} <= parts.keys():
        raise ValueError(f"'{name}' is not the name of a benchmark of octobloom-bench")
    return _key(parts)


def _key(parts):
    return tuple((name, parts[name]) for name in ("what", "who", "MiB", *COMMON))


def _median(entries):
    last = entries[-1]
    return Measured(ns=median(entry["ns_per_key"] for entry in entries), rounds=len(entries),
                    bytes=last["bytes"], fpr=last.get("fpr"), label=last.get("label", ""))
