#!/usr/bin/env python3
"""Independent oracle of the other kinds of octobloom files: growing, counting, cuckoo and windowed.

Written from docs/format.md and docs/format-kinds.md alone, in plain Python, clear and slow on
purpose. It shares no code with the C++ library, so agreement between the two means something.

    python3 family_oracle.py selfcheck
    python3 family_oracle.py OUTDIR        # writes families.tsv and the files that it lists

What families.tsv says is explained in family_scenarios.py; plans are computed in plan_oracle.py.
"""

import functools
import itertools
import math
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from octobloom_oracle import M32, M64, block_index, family, key_hash, pattern, xxh64  # noqa: E402
from plan_oracle import plan  # noqa: E402

GROWING, COUNTING, CUCKOO, WINDOWED = 1, 2, 3, 4
I63 = (1 << 63) - 1
DAYS_36600 = 36600 * 86400 * 10**9


class Refused(Exception):
    """A file that a reader does not take, or a merge of what cannot be merged."""


class Full(Exception):
    """There is no place for the key; nothing was changed."""


def check(rule, what):
    if not rule:
        raise Refused(what)


# --- blocks ---------------------------------------------------------------------------------------
@functools.lru_cache(1 << 17)
def mask(h, k):
    """The key's bits in its block, as one number of 512 bits."""
    return sum(word << (64 * w) for w, word in enumerate(pattern(h, k)))


@functools.lru_cache(1 << 17)
def bits_of(h, k):
    """The numbers of these bits, each once."""
    text = f"{mask(h, k):b}"[::-1]
    return [b for b, bit in enumerate(text) if bit == "1"]


class Bits:
    """A plain filter without its header. Every block is one number of 512 bits."""

    def __init__(self, blocks, k, body=None):
        self.blocks, self.k = blocks, k
        body = bytes(64 * blocks) if body is None else body
        self.body = [int.from_bytes(body[i : i + 64], "little") for i in range(0, 64 * blocks, 64)]

    def has(self, h):
        return mask(h, self.k) & ~self.body[block_index(h, self.blocks)] == 0

    def add(self, h):
        self.body[block_index(h, self.blocks)] |= mask(h, self.k)

    def unite(self, other):
        self.body = [a | b for a, b in zip(self.body, other.body)]

    def any(self):
        return any(self.body)

    def to_bytes(self):
        return b"".join(block.to_bytes(64, "little") for block in self.body)


def row(*fields):
    return b"".join(struct.pack("<d" if isinstance(f, float) else "<Q", f) for f in fields).ljust(
        64, b"\0"
    )


# --- what all kinds share -------------------------------------------------------------------------
class Family:
    """n and p are the header's planned keys and target rate; families is its byte 72."""

    layout = 1

    def __init__(self, n=0, p=0.0, seed=0, hash_id=1):
        self.n, self.p, self.seed, self.hash_id = n, p, seed, hash_id
        self.inserted = self.families = 0

    # Keys as Python values; the methods that end in _hash take hashes.
    def insert(self, key, now=None):
        return self.insert_hash(key_hash(key, self.seed), family(key), now)

    def insert_new(self, key, now=None):
        return self.insert_hash(key_hash(key, self.seed), family(key), now, only_new=True)

    def may_contain(self, key, now=None):
        return self.has_hash(key_hash(key, self.seed), now)

    def unknown(self):
        """Keys are in, and no family is told of."""
        return not self.families and (self.inserted > 0 or self.any())

    def learn_family(self, bit):
        if not self.unknown():  # not known stays so while anything is in
            self.families |= bit

    def merge_families(self, other):
        unknown = self.unknown() or other.unknown()
        self.families = 0 if unknown else self.families | other.families

    def count(self, keys=1):
        self.inserted = min(M64, self.inserted + keys)

    def to_bytes(self):
        blocks, k = self.shape()
        body = self.body()
        head = struct.pack(
            "<8sHBBBBHQQQQdQQB",
            b"OCTOBLM\n",
            1,
            self.kind,
            self.hash_id,
            self.layout,
            k,
            128,
            blocks,
            self.seed,
            self.inserted,
            self.n,
            self.p,
            len(body),
            xxh64(body),
            self.families,
        ).ljust(120, b"\0")
        return head + struct.pack("<Q", xxh64(head)) + body


def read(data, verify=True):
    """The filter of a file; Refused when it breaks a rule. verify is what reads the body's bits."""
    check(len(data) >= 128, "shorter than a header")
    check(data[:8] == b"OCTOBLM\n", "magic")
    (
        version,
        kind,
        hash_id,
        layout,
        k,
        size,
        blocks,
        seed,
        inserted,
        n,
        p,
        body_size,
        body_sum,
        families,
    ) = struct.unpack("<HBBBBHQQQQdQQB", data[8:73])
    check(version == 1, "version")
    check(struct.unpack("<Q", data[120:128])[0] == xxh64(data[:120]), "the header's checksum")
    check(kind in KINDS, "kind")
    cls = KINDS[kind]
    check(hash_id in (0, 1), "hash id")
    check(layout == cls.layout, "layout")
    check(8 <= k <= 32 if kind == CUCKOO else 1 <= k <= 24, "k")
    check(size == 128, "size of the header")
    check(1 <= blocks <= M32, "blocks")
    check(0 <= p < 1 and math.copysign(1, p) == 1, "target rate")
    check(families <= 31, "families")
    check(not any(data[73:104]), "reserved bytes of the header")
    check(body_size == len(data) - 128, "size of the body")
    body = data[128:]
    check(not verify or xxh64(body) == body_sum, "the body's checksum")
    result = cls.from_body(body, blocks, k, inserted, verify, n=n, p=p, seed=seed, hash_id=hash_id)
    result.inserted, result.families = inserted, families
    return result


def rows_of(body, fields, count=None):
    """The fields of one row, or of the rows behind the first; bytes without a name must be zero."""
    size = struct.calcsize(fields)
    offsets = [0] if count is None else [64 * (i + 1) for i in range(count)]
    check(offsets == [] or len(body) >= offsets[-1] + 64, "a table that is cut off")
    for at in offsets:
        check(not any(body[at + size : at + 64]), "reserved bytes of a row")
    found = [struct.unpack(fields, body[at : at + size]) for at in offsets]
    return found[0] if count is None else found


# --- kind 1 ---------------------------------------------------------------------------------------
class Level:
    def __init__(self, bits, planned, keys, target):
        self.bits, self.planned, self.keys, self.target = bits, planned, keys, target


class Growing(Family):
    kind = GROWING

    def __init__(self, n, p, growth=2, grow_at=1.0, spare_blocks=0, planner=plan, **rest):
        super().__init__(n, p, **rest)
        self.growth, self.grow_at, self.spare_blocks, self.planner = (
            growth,
            grow_at,
            spare_blocks,
            planner,
        )
        self.levels = []
        self.add_level()

    def capacity(self, planned):
        return planned if self.grow_at == 1 else max(1, math.floor(float(planned) * self.grow_at))

    def add_level(self):
        left = self.p
        for level in self.levels:
            left -= level.target
        target = max(0.15 * left, 1e-8)
        planned = min(M64, self.levels[-1].planned * self.growth) if self.levels else self.n
        shape = None if target > left or len(self.levels) == 64 else self.planner(planned, target)
        if shape is None:
            raise Full
        blocks, k = min(shape[0] + self.spare_blocks, M32), shape[1]
        self.levels.append(Level(Bits(blocks, k), planned, 0, target))

    def insert_hash(self, h, family_bit, now=None, only_new=False):
        new = not self.has_hash(h)
        if new and self.levels[-1].keys == self.capacity(self.levels[-1].planned):
            self.add_level()
        self.learn_family(family_bit)
        if new:
            self.levels[-1].bits.add(h)
            self.levels[-1].keys += 1
        self.count(new or not only_new)
        return new

    def has_hash(self, h, now=None):
        return any(level.bits.has(h) for level in self.levels)

    def any(self):
        return any(level.bits.any() for level in self.levels)

    def clear(self):
        first = self.levels[0]
        self.levels = [Level(Bits(first.bits.blocks, first.bits.k), first.planned, 0, first.target)]
        self.inserted = self.families = 0

    def shape(self):
        return self.levels[-1].bits.blocks, self.levels[-1].bits.k

    def body(self):
        return (
            row(len(self.levels), self.growth, float(self.grow_at), self.spare_blocks)
            + b"".join(
                row(l.bits.blocks, l.bits.k, l.planned, l.keys, float(l.target))
                for l in self.levels
            )
            + b"".join(l.bits.to_bytes() for l in self.levels)
        )

    @classmethod
    def from_body(cls, body, blocks, k, inserted, verify, n, p, **rest):
        self = cls.__new__(cls)
        Family.__init__(self, n, p, **rest)
        self.planner = plan
        check(2e-8 <= p < 1, "target rate of a growing filter")
        count, self.growth, self.grow_at, self.spare_blocks = rows_of(body, "<QQdQ")
        check(1 <= count <= 64, "levels")
        check(2 <= self.growth <= 16, "growth")
        check(0.1 <= self.grow_at <= 1, "grow_at")
        check(self.spare_blocks <= M32, "spare_blocks")
        rows = rows_of(body, "<QQQQd", count)
        check(len(body) == 64 * (1 + count + sum(r[0] for r in rows)), "pieces of the body")
        planned, total, at = n, 0.0, 64 * (1 + count)
        self.levels = []
        for i, (level_blocks, level_k, level_planned, keys, target) in enumerate(rows):
            newest = i == count - 1
            check(
                1 <= level_blocks <= M32 and (not newest or level_blocks == blocks),
                "blocks of a level",
            )
            check(1 <= level_k <= 24 and (not newest or level_k == k), "k of a level")
            check(level_planned == planned and planned >= 1, "planned keys of a level")
            capacity = self.capacity(planned)
            check(keys <= capacity and (newest or keys == capacity), "keys of a level")
            check(target >= 1e-8, "target rate of a level")
            total += target
            bits = Bits(level_blocks, level_k, body[at : at + 64 * level_blocks])
            at += 64 * level_blocks
            self.levels.append(Level(bits, planned, keys, target))
            planned = min(M64, planned * self.growth)
        check(total <= p * (1 + 1e-9), "target rates of all levels")
        return self


# --- kind 2 ---------------------------------------------------------------------------------------
class Counting(Family):
    kind = COUNTING

    def __init__(self, blocks, k, **rest):
        super().__init__(**rest)
        self.blocks, self.k = blocks, k
        self.counters = [[0] * 512 for _ in range(blocks)]

    def insert_hash(self, h, family_bit, now=None, only_new=False):
        new = not self.has_hash(h)
        self.learn_family(family_bit)
        block = self.counters[block_index(h, self.blocks)]
        for b in bits_of(h, self.k):
            block[b] = min(15, block[b] + 1)
        self.count()
        return new

    def has_hash(self, h, now=None):
        block = self.counters[block_index(h, self.blocks)]
        return all(block[b] for b in bits_of(h, self.k))

    def remove(self, key):
        return self.remove_hash(key_hash(key, self.seed))

    def remove_hash(self, h):
        if not self.has_hash(h):
            return False
        block = self.counters[block_index(h, self.blocks)]
        for b in bits_of(h, self.k):
            block[b] -= block[b] != 15
        self.inserted = max(0, self.inserted - 1)
        return True

    def any(self):
        return any(any(block) for block in self.counters)

    def merge(self, other):
        alike = ("kind", "blocks", "k", "seed", "hash_id")
        check(all(getattr(self, a) == getattr(other, a) for a in alike), "shapes that differ")
        self.merge_families(other)
        self.counters = [
            [min(15, a + b) for a, b in zip(mine, others)]
            for mine, others in zip(self.counters, other.counters)
        ]
        self.count(other.inserted)

    def clear(self):
        self.counters = [[0] * 512 for _ in range(self.blocks)]
        self.inserted = self.families = 0

    def shape(self):
        return self.blocks, self.k

    def body(self):
        bits = b"".join(
            sum((c > 0) << b for b, c in enumerate(block)).to_bytes(64, "little")
            for block in self.counters
        )
        return bits + b"".join(
            bytes(block[b] | block[b + 1] << 4 for b in range(0, 512, 2)) for block in self.counters
        )

    @classmethod
    def from_body(cls, body, blocks, k, inserted, verify, **rest):
        check(len(body) == (64 + 256) * blocks, "pieces of the body")
        self = cls(blocks, k, **rest)
        for i in range(blocks):
            counters = body[64 * blocks + 256 * i : 64 * blocks + 256 * (i + 1)]
            self.counters[i] = [c for byte in counters for c in (byte & 15, byte >> 4)]
        check(not verify or self.body() == body, "bits that are not those of the counters")
        return self


# --- kind 3 ---------------------------------------------------------------------------------------
class Cuckoo(Family):
    kind, layout = CUCKOO, 2

    def __init__(self, lines, f, **rest):
        super().__init__(**rest)
        self.lines, self.f = lines, f
        self.buckets = [[0] * 4 for _ in range(lines * (128 // f))]

    def places(self, h):
        """The fingerprint, its first bucket and its second one."""
        fingerprint = 1 + (((h & M32) * (2**self.f - 1)) >> 32)
        first = ((h >> 32) * len(self.buckets)) >> 32
        return fingerprint, first, self.other(fingerprint, first)

    def other(self, fingerprint, bucket):
        z = fingerprint * 0x9E3779B1 & M32
        z = (z ^ (z >> 15)) * 0x85EBCA77 & M32
        return (((z * len(self.buckets)) >> 32) - bucket) % len(self.buckets)

    def insert_hash(self, h, family_bit, now=None, only_new=False):
        new = not self.has_hash(h)
        fingerprint, first, second = self.places(h)
        moved, s, b = [], h, second
        for bucket in (first, second):
            if 0 in self.buckets[bucket]:
                b = bucket
                break
        while 0 not in self.buckets[b]:
            if len(moved) == 500:
                for bucket, slot, came_out in reversed(moved):
                    self.buckets[bucket][slot] = came_out
                raise Full
            s = (s * 6364136223846793005 + 1442695040888963407) & M64
            slot = s >> 62
            moved.append((b, slot, self.buckets[b][slot]))
            fingerprint, self.buckets[b][slot] = self.buckets[b][slot], fingerprint
            b = self.other(fingerprint, b)
        self.learn_family(family_bit)
        self.buckets[b][self.buckets[b].index(0)] = fingerprint
        self.count()
        return new

    def has_hash(self, h, now=None):
        fingerprint, first, second = self.places(h)
        return fingerprint in self.buckets[first] or fingerprint in self.buckets[second]

    def remove(self, key):
        return self.remove_hash(key_hash(key, self.seed))

    def remove_hash(self, h):
        fingerprint, first, second = self.places(h)
        for bucket in (self.buckets[first], self.buckets[second]):
            if fingerprint in bucket:
                bucket[bucket.index(fingerprint)] = 0
                self.inserted -= 1
                return True
        return False

    def any(self):
        return self.inserted > 0

    def clear(self):
        self.buckets = [[0] * 4 for _ in self.buckets]
        self.inserted = self.families = 0

    def shape(self):
        return self.lines, self.f

    def body(self):
        per_line, lines = 128 // self.f, []
        for i in range(self.lines):
            slots = [
                slot
                for bucket in self.buckets[per_line * i : per_line * (i + 1)]
                for slot in bucket
            ]
            lines.append(
                sum(slot << (self.f * j) for j, slot in enumerate(slots)).to_bytes(64, "little")
            )
        return b"".join(lines)

    @classmethod
    def from_body(cls, body, lines, f, inserted, verify, **rest):
        per_line = 128 // f
        check(lines * per_line <= M32, "buckets")
        check(len(body) == 64 * lines, "pieces of the body")
        check(inserted <= 4 * lines * per_line, "more keys than slots")
        self = cls(lines, f, **rest)
        for b in range(len(self.buckets)):
            line = int.from_bytes(body[b // per_line * 64 : b // per_line * 64 + 64], "little")
            self.buckets[b] = [
                line >> (f * (4 * (b % per_line) + slot)) & (2**f - 1) for slot in range(4)
            ]
        check(not verify or self.body() == body, "the rest of a line is not zero")
        taken = sum(slot != 0 for bucket in self.buckets for slot in bucket)
        check(not verify or inserted == taken, "keys inserted are not the slots taken")
        return self


# --- kind 4 ---------------------------------------------------------------------------------------
class Layer:
    def __init__(self, bits, part, keys=0, last=0):
        self.bits, self.part, self.keys, self.last = bits, part, keys, last


class Windowed(Family):
    """layers are kept in their order of opening, whatever part they belong to."""

    kind = WINDOWED

    def __init__(self, window, parts, by_time, blocks, k, **rest):
        super().__init__(**rest)
        self.window, self.parts, self.by_time, self.blocks, self.k = (
            window,
            parts,
            by_time,
            blocks,
            k,
        )
        self.length = -(-window // parts)
        self.share = -(-self.n // (2 * parts))  # by time
        self.most_layers = 3 * parts + 1  # by time
        self.clear()

    def clear(self):
        self.newest = self.events = self.restarts = self.inserted = self.families = 0
        self.layers = [] if self.by_time else [self.new_layer(0)]

    def new_layer(self, part):
        return Layer(Bits(self.blocks, self.k), part)

    def of_part(self, part):
        return [layer for layer in self.layers if layer.part == part]

    def answering(self, now):
        """The layers that a question at this time is asked of."""
        if not self.by_time:
            return self.layers
        if self.newest * self.length - now >= self.window:
            return []
        return [layer for layer in self.layers if now - layer.last <= self.window]

    def has_hash(self, h, now=None):
        return any(layer.bits.has(h) for layer in self.answering(now))

    def any(self):
        return any(layer.bits.any() for layer in self.layers)

    def insert_hash(self, h, family_bit, now=None, only_new=False):
        if not self.by_time:
            self.begin_event()
        new = not self.has_hash(h, now)
        self.learn_family(family_bit)
        if self.by_time:
            self.insert_by_time(h, now)
        else:
            self.layers[-1].keys += not self.layers[-1].bits.has(h)
            self.layers[-1].bits.add(h)
        self.count(new or not only_new)
        return new

    def begin_event(self):
        if self.events == self.length:
            self.newest, self.events = self.newest + 1, 0
            self.layers.append(self.new_layer(self.newest))
            self.layers = [l for l in self.layers if l.part >= self.newest - self.parts]
        self.events += 1

    def insert_by_time(self, h, now):
        assert 0 <= now <= I63
        if self.newest * self.length - now >= self.window:
            self.layers, self.newest = [], now // self.length
            self.restarts = min(M64, self.restarts + 1)
        self.newest = max(self.newest, now // self.length)
        self.layers = self.answering(now)
        seen = max(now, self.newest * self.length)
        for layer in self.of_part(self.newest):
            if layer.bits.has(h):
                layer.last = max(layer.last, seen)
                return
        mine = self.of_part(self.newest)
        if mine and mine[-1].keys < self.share:
            layer = mine[-1]
        else:
            if len(self.layers) == self.most_layers:
                self.unite_two()
            layer = self.new_layer(self.newest)
            self.layers.append(layer)
        layer.bits.add(h)
        layer.keys += 1
        layer.last = max(layer.last, seen)

    def unite(self, earlier, later):
        earlier.bits.unite(later.bits)
        earlier.keys = min(M64, earlier.keys + later.keys)
        earlier.last = max(earlier.last, later.last)

    def unite_two(self):
        pairs = []
        for part in {layer.part for layer in self.layers}:
            for (i, a), (j, b) in itertools.combinations(enumerate(self.of_part(part)), 2):
                pairs.append((a.keys + b.keys, part, i, j, a, b))
        earlier, later = min(pairs, key=lambda pair: pair[:4])[4:]
        self.unite(earlier, later)
        self.layers.remove(later)

    def merge(self, other):
        alike = ("kind", "by_time", "parts", "window", "n", "p", "blocks", "k", "seed", "hash_id")
        check(all(getattr(self, a) == getattr(other, a) for a in alike), "windows that differ")
        check(self.by_time, "windows by events")
        self.merge_families(other)
        self.newest = max(self.newest, other.newest)
        kept = [
            [l for l in f.layers if l.last + self.window >= self.newest * self.length]
            for f in (self, other)
        ]
        self.layers = kept[0]
        for theirs in sorted(kept[1], key=lambda l: l.part):  # keeps the order of opening in a part
            copy = Layer(
                Bits(self.blocks, self.k, theirs.bits.to_bytes()),
                theirs.part,
                theirs.keys,
                theirs.last,
            )
            for mine in self.of_part(copy.part):
                if mine.keys + copy.keys <= self.share:
                    self.unite(mine, copy)
                    break
            else:
                self.layers.append(copy)
        while len(self.layers) > self.most_layers:
            self.unite_two()
        self.count(other.inserted)
        self.restarts = min(M64, self.restarts + other.restarts)

    def shape(self):
        return self.blocks, self.k

    def body(self):
        layers = sorted(self.layers, key=lambda layer: layer.part % (self.parts + 1))
        return (
            row(
                self.parts,
                int(self.by_time),
                self.window,
                self.newest,
                self.events,
                len(layers),
                self.restarts,
            )
            + b"".join(row(l.part, l.keys, l.last) for l in layers)
            + b"".join(l.bits.to_bytes() for l in layers)
        )

    @classmethod
    def from_body(cls, body, blocks, k, inserted, verify, n, p, **rest):
        parts, by_time, window, newest, events, count, restarts = rows_of(body, "<QQQQQQQ")
        check(1 <= parts <= 64, "parts")
        check(by_time in (0, 1), "by events or by time")
        check(n >= 1, "planned keys")
        check(p / (2 * parts + 2 if by_time else parts + 1) >= 1e-8, "target rate of a window")
        if by_time:
            check(parts <= window <= DAYS_36600, "window")
        else:
            check(1 <= window == n, "window")
        check(len(body) == 64 * (1 + count + count * blocks), "pieces of the body")
        self = cls(window, parts, bool(by_time), blocks, k, n=n, p=p, **rest)
        self.newest, self.events, self.restarts, self.layers = newest, events, restarts, []
        if by_time:
            check(newest <= I63 // self.length, "number of the newest part")
            check(events == 0, "events")
            check(count <= self.most_layers, "layers")
        else:
            check(newest <= I63, "number of the newest part")
            check(events <= self.length and (events or not newest), "events")
            check(count == min(newest, parts) + 1, "layers")
            check(restarts == 0, "restarts")
        place = 0
        for i, (part, keys, last) in enumerate(rows_of(body, "<QQQ", count)):
            check(max(0, newest - parts) <= part <= newest, "part number")
            check(part % (parts + 1) >= place, "order of the layers")
            place = part % (parts + 1)
            if by_time:
                check(keys >= 1, "keys of a layer")
                check(part * self.length <= last < (part + 1) * self.length and last <= I63, "last")
                check(last + window >= newest * self.length, "last of a layer that is forgotten")
            else:
                most = events if part == newest else self.length
                check(min(1, most) <= keys <= most, "keys of a layer")
                check(last == 0, "last")
                check(not self.of_part(part), "a part twice")
            at = 64 * (1 + count + i * blocks)
            self.layers.append(
                Layer(Bits(blocks, k, body[at : at + 64 * blocks]), part, keys, last)
            )
        self.layers.sort(key=lambda layer: layer.part)  # keeps the order of opening in a part
        return self


KINDS = {GROWING: Growing, COUNTING: Counting, CUCKOO: Cuckoo, WINDOWED: Windowed}


if __name__ == "__main__":
    import family_scenarios

    if sys.argv[1:] in ([], ["selfcheck"]):
        family_scenarios.selfcheck()
    else:
        family_scenarios.golden(sys.argv[1])
