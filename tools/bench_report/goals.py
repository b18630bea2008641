"""The goals, and what was measured of them."""

from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True)
class Goal:
    what: str
    target: str
    measured: str
    verdict: str  # met, missed, or why it was not measured


def size_name(mib):
    return f"{mib / 1024:g} GiB" if mib >= 1024 else f"{mib:g} MiB" if mib >= 1 else "256 KiB"


def quotient(above, below):
    """Of two measurements' times; None where one is missing."""
    return above.ns / below.ns if above and below else None


def _goal(what, limit, ratios, at_least, why_not="not measured"):
    """A goal of one or several ratios, each with what it belongs to ('' for nothing)."""
    target = f"at {'least' if at_least else 'most'} {limit:.2f} ×"
    ratios = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    if not ratios:
        return Goal(what, target, "", why_not)
    met = all(ratio >= limit if at_least else ratio <= limit for ratio in ratios.values())
    measured = ", ".join(f"{name + ': ' if name else ''}{ratio:.2f} ×" for name, ratio in ratios.items())
    return Goal(what, target, measured, "met" if met else "missed")


def _against_peer(results, what, peer, mib):
    """How many times as fast ours is, of a size and an fpr not above the peer's."""
    theirs = results.get(what, peer, mib)
    ours = [results.get(what, who, mib) for who in ("simd", "simd_k8")]
    ours = [one for one in ours
            if one and theirs and one.fpr <= theirs.fpr and one.bytes <= theirs.bytes]
    return quotient(theirs, min(ours, key=lambda one: one.ns)) if ours else None


def _kernels(results):
    def ratio(what, above, below, mib, **other):
        return quotient(results.get(what, above, mib), results.get(what, below, mib, **other))

    for mib in (128, 512):
        yield _goal(f"may_contain, {mib} MiB, against the floor", 1.10,
                    {"": ratio("may_contain", "simd_plain", "floor", mib)}, False)
    wide = results.context.get("octobloom_target", "").startswith("AVX3")
    yield _goal(f"may_contain, 1 MiB, against the floor ({'AVX-512' if wide else 'AVX2'})",
                1.5 if wide else 2.4, {"": ratio("may_contain", "simd_plain", "floor", 1)}, False)
    for mib in (128, 512):
        yield _goal(f"may_contain by parts, {mib} MiB, against the floor", 0.85,
                    {"": ratio("may_contain", "simd_parts", "floor", mib)}, False)
    yield _goal("insert by parts, 512 MiB, against the direct one", 1.8,
                {"": ratio("insert", "simd_plain", "simd_parts", 512)}, True)
    for what in ("insert", "may_contain"):
        yield _goal(f"{what}, all threads ({results.context.get('octobloom_threads', '?')}) against "
                    "one, from 16 MiB", 1.8,
                    {size_name(mib): ratio(what, "simd", "simd", mib, threads="all")
                     for mib in results.sizes(what, "simd") if mib >= 16}, True)
    for peer, name in (("acero", "Acero"), ("parquet", "Parquet")):
        for what in ("may_contain", "insert"):
            yield _goal(f"{what}, against {name}, from 1 MiB", 1.0,
                        {size_name(mib): _against_peer(results, what, peer, mib)
                         for mib in results.sizes(what, peer) if mib >= 1}, True)
            yield _goal(f"{what}, against {name}, 512 MiB", 1.3,
                        {"": _against_peer(results, what, peer, 512)}, True,
                        "not possible: Parquet's filter ends at 128 MiB" if peer == "parquet"
                        else "not measured")
    for mib, limit in ((1, 3), (512, 4)):
        for what in ("may_contain", "insert"):
            yield _goal(f"{what}, {mib} MiB, against the reference", limit,
                        {"": ratio(what, "reference", "simd", mib)}, True)


def _dedup(dedup):
    runs = {run["name"]: run for run in (dedup or {}).get("runs", [])}
    ours = runs.get("octobloom")
    log = f"dedup of {dedup['lines']:,} lines, against " if dedup else "dedup, against "
    for name, limit in (("DuckDB", 5), ("sort -u", 10)):
        other = runs.get(name)
        yield _goal(log + name, limit,
                    {"": other["seconds"] / ours["seconds"] if ours and other else None}, True)
    if ours:
        beside = (ours["peak_bytes"] - ours["filter_bytes"]) / MIB
        yield Goal("dedup, memory beside the filter", "at most 64 MiB", f"{beside:.1f} MiB",
                   "met" if beside <= 64 else "missed")


def goals_of(results):
    return [*_kernels(results), *_dedup(results.dedup)]
