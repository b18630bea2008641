#!/usr/bin/env python3
"""The command against the oracle of the file formats (tests/golden/family_oracle.py).

    python3 family_model.py OCTOBLOOM [--files 100] [--seed 1] [--only KIND,...] [--keep DIR]

Random files of every kind are made by the command, or made by the oracle and added to by the
command. The file must be byte for byte what the oracle makes of the same lines, and `check` must
answer 2,000 lines as the oracle does. Then random forged files, most of them with right checksums
and one field just inside or just outside what the page allows, must be taken or refused as the page
says. Files depend on the seed alone, but for windows by time, which depend on the clock as well.
"""

import argparse
import collections
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import family_oracle as oracle  # noqa: E402
from octobloom_oracle import M32, M64, xxh64  # noqa: E402
from plan_oracle import cuckoo_plan, plan, rate  # noqa: E402

SECOND = 10**9
failures = []


class Model:
    def __init__(self, command, directory, rng):
        self.command, self.directory, self.rng = command, directory, rng
        self.path = os.path.join(directory, "filter.octobloom")
        self.case, self.counts = "", collections.Counter()

    # --- the command -----------------------------------------------------------------------------
    def run(self, *args, lines=()):
        data = b"".join(line + b"\n" for line in lines)
        return subprocess.run([self.command, *args], input=data, capture_output=True, check=False)

    def done(self, *args, lines=(), allowed=(0, 1)):
        result = self.run(*args, lines=lines)
        self.expect(
            result.returncode in allowed, f"{args}: status {result.returncode} {result.stderr}"
        )
        return result

    def expect(self, right, what):
        if not right:
            failures.append(f"{self.case}: {what}")
            kept = os.path.join(self.directory, f"failure-{len(failures)}.octobloom")
            if os.path.exists(self.path):
                with open(kept, "wb") as file:
                    file.write(self.data())
        return right

    def data(self, path=None):
        with open(path or self.path, "rb") as file:
            return file.read()

    def write(self, data, path=None):
        with open(path or self.path, "wb") as file:
            file.write(data)

    def same(self, model, what):
        """The file is what the oracle has, and reads back as the same."""
        data, wanted = self.data(), model.to_bytes()
        if data == wanted:
            return self.expect(
                oracle.read(data).to_bytes() == data, f"{what}: read and written again"
            )
        at = next(
            (i for i, (a, b) in enumerate(zip(data, wanted)) if a != b), min(len(data), len(wanted))
        )
        return self.expect(
            False, f"{what}: {len(data)} bytes, expected {len(wanted)}; first other: {at}"
        )

    # --- lines -----------------------------------------------------------------------------------
    def line(self, number):
        odd = {0: b"", 1: b"\0", 2: b"\xff\xfe\0x", 3: b"a\r", 4: b" "}
        return odd.get(number) if number in odd else b"line %d" % number + b"." * (number % 41)

    def lines(self, most, among):
        count = self.rng.choice((0, 1, 2, most // 2, most))
        return [self.line(self.rng.randrange(among)) for _ in range(count)]

    def probes(self, among):
        present = [self.line(self.rng.randrange(among)) for _ in range(1000)]
        return present + [b"absent %d" % self.rng.randrange(10**9) for _ in range(1000)]

    def probe(self, answers, among):
        """answers(line) is the set of right answers."""
        lines = self.probes(among)
        out = self.done("check", "--any-keys", self.path, lines=lines).stdout.split(b"\n")[:-1]
        at = 0
        for line in lines:
            got = at < len(out) and out[at] == line
            allowed = answers(line)
            if len(allowed) == 2 and got and True not in allowed:
                got = False
            at += got
            if not self.expect(got in allowed, f"check answers {got} for {line}"):
                return
        self.expect(at == len(out), "check printed lines that were not asked")
        self.counts["lines asked"] += len(lines)

    def seed(self):
        return self.rng.choice((0, 1, self.rng.getrandbits(64), M64))

    # --- random files ----------------------------------------------------------------------------
    def planner(self):
        """Plans as the file tells them, compared with the formula as far as rounding allows."""
        levels = [(level.bits.blocks, level.bits.k) for level in oracle.read(self.data()).levels]

        def told(planned, target):
            i = self.next_level
            self.next_level += 1
            if i >= len(levels):
                return plan(planned, target)
            blocks, k = levels[i][0] - self.spare, levels[i][1]
            if target >= 1e-6 and (blocks, k) != plan(planned, target):
                off = [rate(planned, max(1, b), k) / target - 1 for b in (blocks, blocks - 1)]
                self.expect(min(map(abs, off)) < 1e-6, f"level {i}: {blocks} blocks, k {k}: {off}")
            return blocks, k

        return told

    def growing(self):
        n, p = self.rng.choice((1, 2, 30, 200)), self.rng.choice(
            (0.3, 0.01, 1e-3, 1e-5, 2e-8, 0.999)
        )
        seed, among = self.seed(), n * 8 + 5
        options = {}
        self.spare = self.next_level = 0
        if self.rng.random() < 0.5:
            self.done("create", "--growing", f"-n{n}", f"-p{p}", f"--seed={seed}", "-o", self.path)
            empty = oracle.read(self.data())
            options = {
                "growth": empty.growth,
                "grow_at": empty.grow_at,
                "spare_blocks": empty.spare_blocks,
            }
            self.spare = empty.spare_blocks
            model = oracle.Growing(n, p, seed=seed, planner=self.planner(), **options)
            self.same(model, "create --growing")
        else:
            self.spare = self.rng.choice((0, 1, 5))
            options = {
                "growth": self.rng.choice((2, 3, 16)),
                "grow_at": self.rng.choice((0.1, 0.5, 0.7, 0.95, 1.0)),
                "spare_blocks": self.spare,
            }
            if p < 1e-6:
                p = 1e-6
            model = oracle.Growing(n, p, seed=seed, **options)
            self.next_level = 1
            self.write(model.to_bytes())
        for _ in range(self.rng.randrange(1, 4)):
            lines, before = self.lines(n * 4, among), self.data()
            dedup = self.rng.random() < 0.5
            if dedup:
                result = self.run(
                    "dedup", "-q", "--filter", self.path, "--save", self.path, lines=lines
                )
            else:
                result = self.run("insert", "-q", self.path, lines=lines)
            model.planner = self.planner()
            try:
                new = [model.insert_new(line) if dedup else model.insert(line) for line in lines]
            except oracle.Full:
                self.counts["full"] += 1
                self.expect(result.returncode == 2, f"full, and status {result.returncode}")
                self.expect(self.data() == before, "full, and another file")
                model = oracle.read(before)
                break
            self.expect(result.returncode == 0, f"status {result.returncode} {result.stderr}")
            if dedup:
                wanted = b"".join(line + b"\n" for line, is_new in zip(lines, new) if is_new)
                self.expect(result.stdout == wanted, "dedup printed other lines")
            if not self.same(model, "dedup" if dedup else "insert"):
                break
        self.counts["levels"] += len(model.levels)
        self.probe(lambda line: {model.may_contain(line)}, among)

    def counting(self):
        seed, among = self.seed(), self.rng.choice((3, 100, 400))
        if self.rng.random() < 0.5:
            n, p = self.rng.choice((1, 50, 400)), self.rng.choice((0.3, 0.01, 1e-5))
            self.done("create", "--counting", f"-n{n}", f"-p{p}", f"--seed={seed}", "-o", self.path)
            empty = oracle.read(self.data())
            self.expect(
                (empty.blocks, empty.k) == plan(n, p), f"{empty.blocks}, {empty.k} for {n}, {p}"
            )
            model = oracle.Counting(empty.blocks, empty.k, n=n, p=p, seed=seed)
        else:
            blocks, k = self.rng.choice((1, 2, 7, 30)), self.rng.randrange(1, 25)
            shape = ("--blocks", str(blocks), "-k", str(k))
            self.done("create", "--counting", *shape, f"--seed={seed}", "-o", self.path)
            model = oracle.Counting(blocks, k, seed=seed)
        self.same(model, "create --counting")
        for _ in range(self.rng.randrange(1, 4)):
            lines, gone = self.lines(300, among), self.lines(100, among + among // 4)
            self.done("insert", "-q", self.path, lines=lines)
            for line in lines:
                model.insert(line)
            self.same(model, "insert")
            out = self.done("remove", "-q", "--missing", self.path, lines=gone).stdout
            missing = [line for line in gone if not model.remove(line)]
            self.expect(out == b"".join(line + b"\n" for line in missing), "remove --missing")
            self.same(model, "remove")
        if self.rng.random() < 0.5:
            other = oracle.Counting(model.blocks, model.k, n=7, p=0.25, seed=seed)
            other.insert(3) if self.rng.random() < 0.3 else None
            for line in self.lines(300, among):
                other.insert(line)
            if self.rng.random() < 0.3:
                other.families = 0
            if self.rng.random() < 0.3:
                other.inserted = self.rng.choice((0, M64))
            self.write(other.to_bytes(), self.path + ".other")
            self.done("merge", "-q", "-o", self.path, self.path, self.path + ".other")
            model.merge(other)
            self.same(model, "merge")
            self.counts["merged"] += 1
        self.probe(lambda line: {model.may_contain(line)}, among)

    def cuckoo(self):
        seed = self.seed()
        if self.rng.random() < 0.5:
            n, p = self.rng.choice((1, 50, 400)), self.rng.choice((0.03, 0.001, 1e-5, 1e-8))
            self.done("create", "--cuckoo", f"-n{n}", f"-p{p}", f"--seed={seed}", "-o", self.path)
            empty = oracle.read(self.data())
            shape = cuckoo_plan(n, p)
            self.expect(empty.shape() == shape, f"a plan of {empty.shape()}, expected {shape}")
            model = oracle.Cuckoo(*empty.shape(), n=n, p=p, seed=seed)
            self.same(model, "create --cuckoo")
        else:
            f = self.rng.randrange(8, 33)
            model = oracle.Cuckoo(
                self.rng.choice((1, 2, 7, 20)), f, seed=seed, n=self.rng.randrange(9)
            )
            self.write(model.to_bytes())
        slots = 4 * len(model.buckets)
        among = self.rng.choice((3, slots // 2 + 2, 2 * slots))
        for _ in range(self.rng.randrange(1, 5)):
            lines, gone = self.lines(slots // 2, among), self.lines(slots // 8, among + among // 4)
            before = self.data()
            result = self.run("insert", "-q", self.path, lines=lines)
            try:
                for line in lines:
                    model.insert(line)
            except oracle.Full:
                self.counts["full"] += 1
                self.expect(result.returncode == 2, f"full, and status {result.returncode}")
                self.expect(self.data() == before, "full, and another file")
                model = oracle.read(before)
            else:
                self.expect(result.returncode == 0, f"status {result.returncode} {result.stderr}")
            self.same(model, "insert")
            out = self.done("remove", "-q", "--missing", self.path, lines=gone).stdout
            missing = [line for line in gone if not model.remove(line)]
            self.expect(out == b"".join(line + b"\n" for line in missing), "remove --missing")
            self.same(model, "remove")
        self.probe(lambda line: {model.may_contain(line)}, among)

    def dedup_window(self, model, lines, clock, *more):
        """Lines through the command and through the oracle. Returns the model after them."""
        by_dedup = bool(more) or self.rng.random() < 0.5
        words = more or ("--filter", self.path)
        start = time.time_ns()
        if by_dedup:
            result = self.done("dedup", "-q", *words, "--save", self.path, lines=lines)
        else:
            result = self.done("insert", "-q", self.path, lines=lines)
        end = time.time_ns()
        data = self.data()
        found = oracle.read(data)
        # One time for all lines: it is the last of a layer, unless the newest part begins later.
        times = {layer.last for layer in found.layers if start <= layer.last <= end} or {start}
        for now in sorted(times) if clock else (None,):
            after = self.copy_of(model, found)
            new = [
                after.insert_new(line, now) if by_dedup else after.insert(line, now)
                for line in lines
            ]
            if after.to_bytes() == data:
                break
        if by_dedup:
            wanted = b"".join(line + b"\n" for line, is_new in zip(lines, new) if is_new)
            self.expect(result.stdout == wanted, "dedup printed other lines")
        return after if self.same(after, f"dedup {more}" if by_dedup else "insert") else None

    def copy_of(self, model, found):
        """model as a new object; without one, an empty window of the shape that was found."""
        if model:
            return oracle.read(model.to_bytes())
        empty = oracle.read(found.to_bytes())
        empty.clear()
        return empty

    def events(self):
        seed, n = self.seed(), self.rng.choice((1, 5, 50, 400))
        among, model = n + 5, None
        if self.rng.random() < 0.4:
            p = self.rng.choice((1e-6, 0.01))
            more = ("--window", str(n), f"-p{p}", f"--seed={seed}")
            lines = self.lines(2 * n, among)
            model = self.dedup_window(None, lines, False, *more)
            found = oracle.read(self.data())
            fields = (found.window, found.n, found.p, found.seed)
            self.expect(fields == (n, n, p, seed), f"{fields}, expected {n}, {n}, {p}, {seed}")
            shape = plan(-(-n // found.parts), p / (found.parts + 1))
            self.expect(found.shape() == shape, f"a layer of {found.shape()}, expected {shape}")
        else:
            shape = (self.rng.choice((1, 3, 20)), self.rng.randrange(1, 25))
            model = oracle.Windowed(
                n, self.rng.choice((1, 2, 4, 7, 64)), False, *shape, n=n, p=0.1, seed=seed
            )
            for line in self.lines(3 * n, among):
                model.insert(line)
            if self.rng.random() < 0.3:
                model.families = self.rng.choice((0, 5))
            self.write(model.to_bytes())
        for _ in range(self.rng.randrange(1, 4)):
            model = model and self.dedup_window(model, self.lines(n, among), False)
        if model:
            self.counts["turns"] += model.newest
            self.probe(lambda line: {model.may_contain(line)}, among)

    def past(self, model, among):
        """Insertions up to now, or a little further, into a window by time."""
        now = time.time_ns()
        begin = now + self.rng.choice((0, 0, 0, 0, model.window // 2, 3 * model.window))
        begin = min(begin, oracle.I63)
        reach = min(int(1.3 * model.window), begin)  # not before 1970
        times = [begin - self.rng.randrange(reach) for _ in range(5)]
        for when in sorted(times) if self.rng.random() < 0.8 else times:
            for line in self.lines(40, among):
                model.insert(line, when)

    def time(self):
        seed, n = self.seed(), self.rng.choice((1, 20, 100))
        among, model = n + 5, None
        if self.rng.random() < 0.3:
            window, p = self.rng.choice((90, 3600, 86400)), self.rng.choice((1e-6, 0.01))
            more = ("--window", f"{window}s", f"-n{n}", f"-p{p}", f"--seed={seed}")
            model = self.dedup_window(None, self.lines(2 * n, among), True, *more)
            found = oracle.read(self.data())
            fields = (found.window, found.n, found.p, found.seed)
            self.expect(
                fields == (window * SECOND, n, p, seed),
                f"{fields}, expected {window}, {n}, {p}, {seed}",
            )
            if not model:
                return
            shape = plan(model.share, p / (2 * found.parts + 2))
            self.expect(found.shape() == shape, f"a layer of {found.shape()}, expected {shape}")
        else:

            def empty():
                return oracle.Windowed(window, parts, True, *shape, n=n, p=0.2, seed=seed)

            parts = self.rng.choice((1, 2, 4, 7, 64))
            shape = (self.rng.choice((1, 3)), self.rng.randrange(1, 25))
            window = self.rng.choice(
                (parts, 10**6, SECOND, 100 * SECOND, 10**13 + 7, 36600 * 86400 * SECOND)
            )
            model = empty()
            self.past(model, among)
            if self.rng.random() < 0.3:
                model.families = self.rng.choice((0, 5))
            self.write(model.to_bytes())
            if self.rng.random() < 0.5:
                others = [empty() for _ in range(self.rng.randrange(1, 3))]
                paths = [f"{self.path}.{i}" for i in range(len(others))]
                for other, path in zip(others, paths):
                    self.past(other, among)
                    if self.rng.random() < 0.2:
                        other.families = 0
                    self.write(other.to_bytes(), path)
                    model.merge(other)
                self.done("merge", "-q", "-o", self.path, self.path, *paths)
                self.counts["merged"] += 1
                if not self.same(model, "merge"):
                    return
        for _ in range(self.rng.randrange(1, 4)):
            model = model and self.dedup_window(model, self.lines(n, among), True)
        if model:
            self.counts["layers"] += len(model.layers)
            self.counts["restarts"] += model.restarts
            start = time.time_ns()
            end = start + 2 * SECOND
            self.probe(lambda line: {model.may_contain(line, t) for t in (start, end)}, among)

    # --- forged files ----------------------------------------------------------------------------
    def base(self, kind):
        """A small file of a kind, as the oracle makes it."""
        rng, seed = self.rng, self.seed()
        p = rng.choice((0.01, 0.5))
        if kind == "growing":
            model = oracle.Growing(
                rng.choice((1, 5, 9)),
                p,
                rng.choice((2, 3, 16)),
                rng.choice((0.1, 0.7, 1.0)),
                seed=seed,
            )
        elif kind == "counting":
            model = oracle.Counting(
                rng.randrange(1, 4), rng.randrange(1, 25), n=rng.choice((0, 9)), seed=seed
            )
        elif kind == "cuckoo":
            model = oracle.Cuckoo(rng.randrange(1, 5), rng.randrange(8, 33), p=p, seed=seed)
        else:
            n, parts = rng.choice((1, 7, 30)), rng.choice((1, 3, 64))
            window = n if kind == "events" else rng.choice((parts, 1000, 3600 * SECOND))
            model = oracle.Windowed(window, parts, kind == "time", 1, 5, n=n, p=p, seed=seed)
            if kind == "time" and rng.random() < 0.3:  # the end of time
                model.newest = oracle.I63 // model.length - parts
        at = model.newest * model.length if kind == "time" else 0
        for i in range(rng.choice((0, 1, 20, 40))):
            if kind == "time" and rng.random() < 0.3:
                at = min(oracle.I63, at + rng.randrange(model.length + 1))
            try:
                model.insert(b"line %d" % i, at)
            except oracle.Full:
                break
        return model

    def near(self, value, limits):
        """A number near the one that is there, or near a limit."""
        of = self.rng.choice((value, *limits))
        return max(0, min(M64, of + self.rng.choice((-1, 0, 1))))

    def forge_header(self, head):
        rng = self.rng
        field = rng.choice(
            (
                "version kind hash layout k size blocks seed inserted n p body families zero note "
                "magic"
            ).split()
        )
        at, form, limits = {
            "version": (8, "<H", (0, 1, 2, 65535)),
            "kind": (10, "<B", (0, 4, 5, 255)),
            "hash": (11, "<B", (0, 1, 2)),
            "layout": (12, "<B", (1, 2)),
            "k": (13, "<B", (0, 1, 8, 24, 32, 255)),
            "size": (14, "<H", (128,)),
            "blocks": (16, "<Q", (0, 1, M32, M64)),
            "seed": (24, "<Q", (0, M64)),
            "inserted": (32, "<Q", (0, M64)),
            "n": (40, "<Q", (0, 1, M64)),
            "body": (56, "<Q", (0, M64)),
            "families": (72, "<B", (0, 4, 31, 32, 255)),
            "zero": (rng.randrange(73, 104), "<B", (0, 1)),
            "note": (rng.randrange(104, 120), "<B", (0, 255)),
            "magic": (rng.randrange(8), "<B", (0,)),
            "p": (48, "<d", ()),
        }[field]
        if field == "p":
            value = rng.choice(
                (
                    0.0,
                    -0.0,
                    1.0,
                    0.9999999999999999,
                    float("nan"),
                    float("inf"),
                    -0.1,
                    5e-324,
                    2e-8,
                    1.9999999999999997e-8,
                    1e-8,
                    4e-8,
                    2e-7,
                    1e-6,
                    6.5e-7,
                    1.3e-6,
                )
            )
        else:
            most = 256 ** struct.calcsize(form) - 1
            value = min(most, self.near(struct.unpack_from(form, head, at)[0], limits))
        struct.pack_into(form, head, at, value)

    def forge_table(self, kind, head, body):
        """A number of a table, or a byte that has no name, or the bits behind the table."""
        rng = self.rng
        if kind in ("counting", "cuckoo"):
            body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
            return
        rows = {"growing": body[0]}.get(kind, body[40])
        if rng.random() < 0.1:
            body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
            return
        if rng.random() < 0.5 or rows == 0:
            at = 8 * rng.randrange(4 if kind == "growing" else 7)
            if kind == "growing" and at == 16:
                of = (
                    0.1,
                    0.09999999999999999,
                    1.0,
                    1.0000000000000002,
                    float("nan"),
                    0.7,
                    -1.0,
                    0.15,
                )
                struct.pack_into("<d", body, at, rng.choice(of))
                return
            limits = {
                ("growing", 0): (1, 64),
                ("growing", 8): (2, 16),
                ("growing", 24): (0, M32),
                ("time", 16): (1, 64, oracle.DAYS_36600),
                ("events", 24): (oracle.I63,),
                ("time", 24): (oracle.I63,),
                ("time", 48): (M64,),
            }.get((kind, at), (0, 1))
        else:
            field = 8 * rng.randrange(5 if kind == "growing" else 3)
            at = 64 * rng.randrange(1, 1 + rows) + field
            if kind == "growing" and field == 32:
                value = struct.unpack_from("<d", body, at)[0]
                of = (
                    1e-8,
                    9.999999999999999e-9,
                    float("nan"),
                    -value,
                    value / 2,
                    value * (1 + 1e-12),
                    1.0,
                )
                struct.pack_into("<d", body, at, rng.choice(of))
                return
            limits = (0, 1, M32, oracle.I63) if kind == "growing" else (0, 1, oracle.I63)
        struct.pack_into("<Q", body, at, self.near(struct.unpack_from("<Q", body, at)[0], limits))

    def forge_model(self, kind, model):
        """A file that is right in itself and odd as a whole."""
        rng = self.rng
        if kind == "growing":
            choice = rng.randrange(6)
            if choice == 0:  # many levels, without a thought for the plan
                model = oracle.Growing(1, 0.999, 2, seed=model.seed)
                levels = rng.choice((63, 64, 65))
                targets = rng.choice((1e-8, 0.999 / levels, 0.999 * (1 + 2e-9) / levels))
                model.levels = [
                    oracle.Level(oracle.Bits(1, 1), 1 << min(i, 64), 1 << min(i, 64), targets)
                    for i in range(levels)
                ]
                for level in model.levels:
                    level.planned = level.keys = min(level.planned, M64)
                model.levels[-1].keys = 1
            elif choice == 1:
                model.growth = rng.choice((1, 2, 3, 16, 17))
                for a, b in zip(model.levels, model.levels[1:]):
                    b.planned = min(M64, a.planned * model.growth)
                    a.keys = model.capacity(a.planned)
            elif choice == 2:
                model.p = rng.choice((2e-8, 1.9999999999999997e-8))
                model.levels = model.levels[:1]
                model.levels[0].target, model.levels[0].keys = 1e-8, 0
            elif choice == 3:
                total = sum(level.target for level in model.levels)
                model.levels[-1].target += (model.p - total) + model.p * rng.choice(
                    (0.9e-9, 1.1e-9, 0)
                )
            elif choice == 4:
                model.grow_at = rng.choice((0.1, 0.3, 0.9, 1.0, 0.09999999999999999))
                for level in model.levels:
                    level.keys = model.capacity(level.planned)
            else:
                bits = oracle.Bits(rng.randrange(1, 4), rng.randrange(1, 26))
                model.levels[rng.randrange(len(model.levels))].bits = bits
        elif kind == "counting":
            model.n, model.inserted = rng.getrandbits(64), rng.getrandbits(64)
        elif kind == "cuckoo":
            model.inserted = rng.choice(
                (0, 4 * len(model.buckets), 4 * len(model.buckets) + 1, model.inserted)
            )
            if rng.random() < 0.5:
                model.buckets = [
                    [rng.randrange(1, 2**model.f) for _ in range(4)] for _ in model.buckets
                ]
                model.inserted = 4 * len(model.buckets) - rng.randrange(2)
        elif kind == "events":
            choice = rng.randrange(3)
            if choice == 0:
                model.parts = rng.choice((1, 64, 65))
                model.length = -(-model.window // model.parts)
                model.newest = rng.choice((0, 1, 2**40, oracle.I63, oracle.I63 + 1))
                model.events = rng.choice((1, model.length, model.length + 1, 0))
                first = max(0, model.newest - model.parts)
                model.layers = [
                    oracle.Layer(oracle.Bits(1, 5), part, model.length)
                    for part in range(first, model.newest + 1)
                ]
                model.layers[-1].keys = min(1, model.events)
            elif choice == 1 and len(model.layers) > 1:
                model.layers[rng.randrange(len(model.layers))].part += rng.choice((-1, 1))
            else:
                model.layers[-1].keys = self.near(model.events, (0, 1))
        else:
            choice = rng.randrange(5)
            if choice == 0:  # many layers in one part
                part = model.newest
                count = model.most_layers + rng.choice((0, 1))
                model.layers = [
                    oracle.Layer(
                        oracle.Bits(1, 5), part, rng.choice((1, 1, 9, M64)), part * model.length
                    )
                    for _ in range(count)
                ]
            elif choice == 1:
                model.window = rng.choice(
                    (model.parts - 1, model.parts, oracle.DAYS_36600, oracle.DAYS_36600 + 1)
                )
                model.window = max(1, model.window)
                model.length = -(-model.window // model.parts)
                model.newest = oracle.I63 // model.length + rng.choice((0, 0, 0, 1))
                last = rng.choice((model.newest * model.length, oracle.I63, oracle.I63 + 1))
                model.layers = [oracle.Layer(oracle.Bits(1, 5), model.newest, 1, last)]
            elif choice == 2 and model.layers:
                layer = rng.choice(model.layers)
                layer.last = rng.choice(
                    (layer.part * model.length, (layer.part + 1) * model.length)
                ) + rng.choice((-1, 0, 0, 1))
                layer.last = max(0, min(layer.last, M64))
            elif (
                choice == 3 and model.layers
            ):  # a layer that could just answer when the newest part began
                model.newest += rng.randrange(model.parts + 1)
                start = model.newest * model.length
                layer = model.layers[0]
                layer.last = max(0, min(M64, start - model.window + rng.choice((-1, 0, 1))))
                layer.part = layer.last // model.length
                model.layers = [layer]
            else:
                model.layers = model.layers[::-1]
                model.restarts = rng.getrandbits(64)
        return model

    def forged(self, kind):
        model = self.base(kind)
        way = self.rng.randrange(6)
        if way == 0:
            model = self.forge_model(kind, model)
        elif way == 1 and kind not in ("cuckoo", "counting"):
            model = self.forge_model(kind, model)
        body = bytearray(model.body())
        head = bytearray(model.to_bytes()[:128])
        if way == 2:
            self.forge_header(head)
        elif way == 3:
            self.forge_table(kind, head, body)
        elif way == 4:
            change = self.rng.choice((-64, -1, 1, 64, -len(body)))
            body = body[:change] if change < 0 else body + bytes(change)
            struct.pack_into("<Q", head, 56, max(0, len(body) + self.rng.choice((0, 0, 0, 1))))
        struct.pack_into("<Q", head, 64, xxh64(bytes(body)))
        struct.pack_into("<Q", head, 120, xxh64(bytes(head[:120])))
        data = bytearray(head + body)
        if way == 5 and self.rng.random() < 0.5:
            data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
        elif way == 5:
            data = data[: self.rng.choice((0, 1, 127, 128, len(data)))]
        verify = self.rng.random() < 0.75
        self.write(data)
        try:
            oracle.read(bytes(data), verify)
            taken, why = True, ""
        except oracle.Refused as refused:
            taken, why = False, str(refused)
        more = () if verify else ("--no-verify",)
        result = self.run("info", *more, self.path)
        right = result.returncode == (0 if taken else 2)
        self.expect(
            right,
            f"way {way} {more}: status {result.returncode}, the page: {why or 'taken'}; "
            f"{result.stderr}",
        )
        if len(data) > 11 and data[11] == 1:
            result = self.run("check", "-q", "--any-keys", *more, self.path, lines=[b"line 0"])
            right = result.returncode in ((0, 1) if taken else (2,))
            self.expect(
                right, f"way {way}, check: status {result.returncode}, the page: {why or 'taken'}"
            )
        self.counts["taken" if taken else "refused"] += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="growing,counting,cuckoo,events,time")
    parser.add_argument("--keep", help="a folder for the files of failures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        for kind in options.only.split(","):
            for what in ("files", "forged files"):
                began = time.time()
                model = Model(os.path.abspath(options.command), options.keep or directory, None)
                for i in range(options.files):
                    model.rng = random.Random(f"{options.seed} {kind} {what} {i}")
                    model.case = f"{kind}, {what} {i}"
                    if os.path.exists(model.path):
                        os.remove(model.path)
                    before = len(failures)
                    try:
                        getattr(model, kind)() if what == "files" else model.forged(kind)
                    except (oracle.Refused, oracle.Full, OSError) as error:
                        model.expect(False, f"{type(error).__name__}: {error}")
                    for failure in failures[before:]:
                        print("FAILED", failure)
                counts = ", ".join(f"{key} {value}" for key, value in sorted(model.counts.items()))
                print(
                    f"{kind}: {options.files} {what}: {counts}; {time.time() - began:.1f} s",
                    flush=True,
                )
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
