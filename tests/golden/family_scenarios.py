#!/usr/bin/env python3
"""What is in the golden files of family_oracle.py, and the language that families.tsv says it in.

families.tsv has a line for each file: its name, how the filter was created, the operations on it,
the probes, and the expected answers. A filter is created by a kind (windowed is "events" or "time")
and pairs of a name and a number. Operations are separated by "; ", and are

    insert KEYS [at T]        insert_new KEYS [at T]        remove KEYS
    new        puts the filter aside and goes on with an empty one created alike
    merge      merges the filter into the one that was put aside last, and goes on with that

where KEYS is "ints A B", the integers from A up to, not including, B, or "strings PREFIX A B", the
strings of the prefix and these integers in decimal, in their order; T is the time of windows by
time, in nanoseconds. The keys of one operation are one batch. Probes are "KEYS [at T]", separated
by "; "; they are asked of the filter in the file. Their answers are result bitmaps (docs/format.md)
in hexadecimal, one for each probe, separated by "; ".
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from family_oracle import Counting, Cuckoo, Growing, Windowed, read  # noqa: E402
from plan_oracle import plan  # noqa: E402


def created(text):
    """The empty filter of a line of families.tsv."""
    name, *words = text.split()
    options = {
        key: float(value) if key in ("p", "grow_at") else int(value, 0)
        for key, value in zip(words[::2], words[1::2])
    }
    if name in ("events", "time"):
        return Windowed(by_time=name == "time", **options)
    return {"growing": Growing, "counting": Counting, "cuckoo": Cuckoo}[name](**options)


def keys_of(words):
    """The keys, and the time behind them or None."""
    if words[0] == "ints":
        keys, rest = list(range(int(words[1]), int(words[2]))), words[3:]
    else:
        keys, rest = [words[1] + str(i) for i in range(int(words[2]), int(words[3]))], words[4:]
    return keys, int(rest[1]) if rest else None


def made(create, operations):
    aside, result = [], created(create)
    for operation in filter(None, operations.split("; ")):
        verb, *words = operation.split()
        if verb == "new":
            aside.append(result)
            result = created(create)
        elif verb == "merge":
            aside[-1].merge(result)
            result = aside.pop()
        else:
            keys, now = keys_of(words)
            for key in keys:
                result.remove(key) if verb == "remove" else getattr(result, verb)(key, now)
    return result


def answered(filter_, probes):
    bitmaps = []
    for probe in probes.split("; "):
        keys, now = keys_of(probe.split())
        bits = sum(filter_.may_contain(key, now) << i for i, key in enumerate(keys))
        bitmaps.append(bits.to_bytes(-(-len(keys) // 8), "little").hex())
    return "; ".join(bitmaps)


def scenarios():
    """The lines of families.tsv up to the probes: name, created, operations, probes."""
    yield (
        "kind-growing",
        "growing n 200 p 0.01",
        "insert ints 0 1000; insert_new ints 500 1500; insert ints 0 10",
        "ints -200 3000",
    )
    yield (
        "kind-growing-at-70",
        "growing n 150 p 0.02 growth 3 grow_at 0.7 spare_blocks 2 seed 42",
        "insert strings key 0 900; insert_new strings key 800 1000",
        "strings key 0 4000",
    )
    yield (
        "kind-counting",
        "counting blocks 24 k 7 n 700 p 0.01 seed 7",
        "insert ints 0 600; "
        + "insert ints 1000 1003; " * 17
        + "remove ints 100 250; remove ints 5000 5050; remove ints 1000 1002; "
        "new; insert ints 500 650; remove ints 640 650; insert strings key 0 10; merge",
        "ints 0 3000",
    )
    yield (
        "kind-cuckoo",
        "cuckoo lines 20 f 11 n 800 p 0.01 seed 9223372036854775808",
        "insert ints 0 840; remove ints 100 150; remove ints 6000 6020; insert ints 0 3; "
        "insert ints 2000 2030; remove ints 0 1",
        "ints 0 4000",
    )
    yield (
        "kind-windowed",
        "events window 300 parts 7 blocks 3 k 9 n 300 p 0.01 seed 5",
        # 170 was in the part that is forgotten when it comes again, and is told new
        "insert ints 0 200; insert_new ints 150 260; insert ints 0 90; insert ints 260 419; "
        "insert_new ints 170 171; insert_new ints 210 215",
        "ints 0 3000",
    )
    yield (
        "windowed",
        "events window 60 parts 3 blocks 1 k 2 n 60 p 0.1 seed 1",  # as planned
        "; ".join(["insert_new ints 0 70"] * 4 + ["insert_new ints 0 53"]),
        "ints 0 100",
    )
    length = 720000000002  # of a window of an hour and 7 ns in 5 parts
    first = 1700000000 * 10**9 // length // 6 * 6 + 4  # its place is 4

    def at(part, offset=0):
        return f"at {(first + part) * length + offset}"

    window = "time window 3600000000007 parts 5 blocks 1 k 11 n 100 p 0.01 seed 3"
    steps = [
        f"insert ints 0 25 {at(0, 5)}",
        f"insert_new ints 20 28 {at(0, 300)}",
        f"insert ints 20 40 {at(1)}",
        f"insert_new ints 0 5 {at(1, 9)}",
        f"insert ints 40 45 {at(0, 400)}",
        f"insert ints 100 180 {at(2, length - 1)}",
        f"insert ints 100 120 {at(1, 3)}",
        f"insert ints 200 207 {at(3, 1000)}",
        "new",
        f"insert ints 220 228 {at(3, 700)}",
        "merge",
        # Layers of part 0 that were last met 300 ns after its start expire within part 5.
        f"insert ints 300 333 {at(5, 200)}",
        f"insert ints 333 336 {at(5, 304)}",
        # An early closed layer: what comes from the other window does not fit in it.
        f"insert ints 340 367 {at(8, 9)}",
        f"insert ints 300 301 {at(7, 20)}",
        "new",
        f"insert ints 370 376 {at(8, 11)}",
        "merge",
        f"insert ints 376 390 {at(8, 12)}",
        f"insert ints 362 364 {at(8, 13)}",
        f"insert ints 220 222 {at(8, 1001)}",
    ]
    yield (
        "kind-windowed-time",
        window,
        "; ".join(steps),
        "; ".join(
            f"ints 0 400 {at(*when)}"
            for when in (
                (8, 1001),
                (8, 997),
                (8, 998),
                (10, 301),
                (10, 302),
                (13, 0),
                (13, 10),
                (4, 0),
                (3, 3),
                (2, 0),
            )
        ),
    )
    steps = [
        f"insert ints 0 60 {at(7)}",
        f"insert ints 0 5 {at(1)}",
        f"insert ints 5 12 {at(2, 77)}",
        f"insert ints 12 30 {at(3, 5)}",
        f"insert ints 30 60 {at(4, 8)}",
        "new",
        f"insert_new ints 500 504 {at(11)}",
        f"insert_new ints 500 520 {at(0, 50)}",
        f"insert_new ints 520 524 {at(2, 70)}",
        f"insert_new ints 540 600 {at(4, 20)}",
        f"insert_new ints 540 545 {at(5, 40)}",
        f"insert strings key 0 6 {at(6, 60)}",
        "merge",
        f"insert ints 30 40 {at(6, 90)}",
        f"insert ints 700 740 {at(6, 91)}",
    ]
    yield (
        "kind-windowed-merged",
        window,
        "; ".join(steps),
        "; ".join(
            f"ints 0 800 {at(*when)}" for when in ((6, 91), (7, 90), (8, 6), (9, 10), (1, 7))
        ),
    )


def golden(out):
    with open(os.path.join(out, "families.tsv"), "w", encoding="utf-8") as table:
        table.write("file\tcreated\toperations\tprobes\tanswers\n")
        for name, create, operations, probes in scenarios():
            data = made(create, operations).to_bytes()
            with open(os.path.join(out, name + ".octobloom"), "wb") as file:
                file.write(data)
            answers = answered(read(data), probes)
            table.write(
                "\t".join((name + ".octobloom", create, operations, probes, answers)) + "\n"
            )


def selfcheck():
    for target, bits, k in (
        (0.1, 4.857, 3),
        (0.01, 9.9334, 6),
        (0.001, 15.5909, 9),
        (1e-6, 39.0149, 16),
    ):
        blocks, found = plan(10**6, target)
        # sizing_rot8.tsv was computed without the last summand of the rate, load / 2^32
        assert found == k and abs(blocks * 512 / 10**6 / bits - 1) < 5e-4, (target, blocks, found)
    for name, create, operations, probes in scenarios():
        result = made(create, operations)
        data = result.to_bytes()
        assert read(data).to_bytes() == data, name
        assert answered(result, probes) == answered(read(data), probes), name
        result.clear()
        assert result.to_bytes() == created(create).to_bytes(), name
    print("ok")
