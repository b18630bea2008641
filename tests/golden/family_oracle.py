#!/usr/bin/env python3
"""Independent oracle of the growing, counting, cuckoo and windowed filters of docs/format-kinds.md.

Plain Python, the standard library only, slow on purpose, and no line shared with the C++ library:
agreement between the two means something.

    python3 family_oracle.py OUTDIR    # writes growing, counting, cuckoo, windowed .octobloom
"""

import itertools
import math
import struct
import sys

M64 = (1 << 64) - 1
M32 = (1 << 32) - 1

# ---- XXH64, by the xxHash specification ----------------------------------------------------------

P = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def rotate(x, r):
    return (x << r | x >> (64 - r)) & M64


def lane_round(acc, lane):
    return rotate((acc + lane * P[1]) & M64, 31) * P[0] & M64


def xxh64(data, seed=0):
    at = 0
    if len(data) >= 32:
        acc = [(seed + P[0] + P[1]) & M64, (seed + P[1]) & M64, seed, (seed - P[0]) & M64]
        while at + 32 <= len(data):
            lanes = struct.unpack_from("<4Q", data, at)
            acc = [lane_round(a, lane) for a, lane in zip(acc, lanes)]
            at += 32
        h = sum(rotate(a, r) for a, r in zip(acc, (1, 7, 12, 18))) & M64
        for a in acc:
            h = ((h ^ lane_round(0, a)) * P[0] + P[3]) & M64
    else:
        h = (seed + P[4]) & M64
    h = (h + len(data)) & M64
    while at + 8 <= len(data):
        (lane,) = struct.unpack_from("<Q", data, at)
        h = (rotate(h ^ lane_round(0, lane), 27) * P[0] + P[3]) & M64
        at += 8
    if at + 4 <= len(data):
        (lane,) = struct.unpack_from("<I", data, at)
        h = (rotate(h ^ lane * P[0] & M64, 23) * P[1] + P[2]) & M64
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * P[4] & M64, 11) * P[0] & M64
    h = (h ^ h >> 33) * P[1] & M64
    h = (h ^ h >> 29) * P[2] & M64
    return h ^ h >> 32


def key_hash(key, seed):
    data = struct.pack("<Q", key & M64) if isinstance(key, int) else key.encode()
    return xxh64(data, seed)


# ---- layout rot8 ---------------------------------------------------------------------------------

SALTS = [
    int(word, 16)
    for word in """47b6137b 44974d91 8824ad5b a2b7289d 705495c7 2df1424b 9efc4947 5c6bfb31
    a9d111a1 f713f8ed 80e6721d 5c3f42cb 980d78eb d933f62f 0cb38e43 6820371d
    583ab917 ce53fecf 42571d85 5c0b9817 44b5f865 05269a55 8ae3fd11 d1caf6b7""".split()
]


def pattern(h, blocks, k):
    """The set of bit numbers, 512 a block, that a key sets."""
    block = (h >> 32) * blocks >> 32
    x = h & M32
    start = (x * 0x99489901 & M32) >> 29
    bits = set()
    for i in range(24):
        word = i % 8
        if i < k - k % 8 or (i < k - k % 8 + 8 and (word - start) % 8 < k % 8):
            bits.add(512 * block + 64 * word + ((x * SALTS[i] & M32) >> 26))
    return bits


class Bits:
    def __init__(self, blocks, k):
        self.blocks, self.k, self.bits = blocks, k, set()

    def has(self, h):
        return pattern(h, self.blocks, self.k) <= self.bits

    def add(self, h):
        self.bits |= pattern(h, self.blocks, self.k)

    def body(self):
        return sum(1 << bit for bit in self.bits).to_bytes(64 * self.blocks, "little")


# ---- sizing: the exact rate ----------------------------------------------------------------------


def expansion(b):
    """A_b(l) with E[(X/64)^b] = sum A_b(l) (1 - l/64)^t."""
    stirling = [1] + [0] * b
    for _ in range(b):
        stirling = [0] + [stirling[d] * d + stirling[d - 1] for d in range(1, b + 1)]
    a = [0.0] * (b + 1)
    for d in range(b + 1):
        falling = math.prod(64 - j for j in range(d))
        for l in range(d + 1):
            a[l] += (-1) ** l * math.comb(d, l) * stirling[d] * falling / 64**b
    return a


def rate_terms(k):
    rounds, rest = divmod(k, 8)
    probes = [rounds + (w < rest) for w in range(8)]
    tables = [expansion(b) for b in probes]
    terms = {}
    for ls in itertools.product(*(range(b + 1) for b in probes)):
        coefficient = math.prod(t[l] for t, l in zip(tables, ls))
        mean = 0.0
        for s in range(8):
            mean += math.prod(
                (1 - l / 64) ** (rounds + ((w - s) % 8 < rest)) for w, l in enumerate(ls)
            )
        exponent = round(mean / 8 - 1, 13)
        terms[exponent] = terms.get(exponent, 0.0) + coefficient
    return terms


def rate(n, blocks, terms):
    load = n / blocks
    return sum(c * math.exp(load * e) for e, c in terms.items()) + load / 2**32


TERMS = {k: rate_terms(k) for k in range(1, 13)}  # enough for the targets below


def size(n, p):
    """(blocks, k): the fewest blocks for which some k reaches p, and the smallest such k."""
    for blocks in itertools.count(1):
        for k, terms in TERMS.items():
            if rate(n, blocks, terms) <= p:
                return blocks, k


# ---- files ---------------------------------------------------------------------------------------


def families_of(keys):
    """Byte 72: 1 for integers, 4 for strings."""
    return max((1 if isinstance(key, int) else 4 for key in keys), default=0)


def file_bytes(kind, blocks, k, seed, inserted, planned, fpr, families, body):
    layout = 2 if kind == 3 else 1
    head = b"OCTOBLM\n" + struct.pack("<HBBBBH", 1, kind, 1, layout, k, 128)
    head += struct.pack("<QQQQdQQ", blocks, seed, inserted, planned, fpr, len(body), xxh64(body))
    head = (head + bytes([families])).ljust(120, b"\0")
    return head + struct.pack("<Q", xxh64(head)) + body


# ---- the four kinds ------------------------------------------------------------------------------


def growing(keys, planned, fpr, growth, grow_at, seed):
    levels = []  # [bits, planned, keys, target]

    def add_level(n):
        left = fpr
        for level in levels:
            left -= level[3]
        target = max(left * 0.15, 1e-8)
        levels.append([Bits(*size(n, target)), n, 0, target])

    add_level(planned)
    for key in keys:
        h = key_hash(key, seed)
        if any(level[0].has(h) for level in levels):
            continue
        if levels[-1][2] == max(math.floor(levels[-1][1] * grow_at), 1):
            add_level(levels[-1][1] * growth)
        levels[-1][0].add(h)
        levels[-1][2] += 1
    body = struct.pack("<QQd40x", len(levels), growth, grow_at)
    for bits, n, held, target in levels:
        body += struct.pack("<QQQQd24x", bits.blocks, bits.k, n, held, target)
    for level in levels:
        body += level[0].body()
    newest = levels[-1][0]
    return file_bytes(1, newest.blocks, newest.k, seed, len(keys), planned, fpr, families_of(keys), body)


def counting(inserts, removes, planned, fpr, blocks, k, seed):
    bits = Bits(blocks, k)
    counters = [0] * (512 * blocks)
    inserted = 0
    for key in inserts:
        inserted += 1
        for bit in pattern(key_hash(key, seed), blocks, k):
            counters[bit] = min(counters[bit] + 1, 15)
    for key in removes:
        chosen = pattern(key_hash(key, seed), blocks, k)
        if any(counters[bit] == 0 for bit in chosen):
            continue
        inserted -= 1
        for bit in chosen:
            if counters[bit] < 15:
                counters[bit] -= 1
    bits.bits = {bit for bit, count in enumerate(counters) if count}
    nibbles = bytes(counters[i] | counters[i + 1] << 4 for i in range(0, len(counters), 2))
    families = families_of(inserts)
    return file_bytes(
        2, blocks, k, seed, inserted, planned, fpr, families, bits.body() + nibbles
    )


def cuckoo(operations, planned, fpr, lines, width, seed):
    per_line = 512 // (4 * width)
    buckets = lines * per_line
    table = [[0] * 4 for _ in range(buckets)]

    def alternate(bucket, fingerprint):
        z = fingerprint * 0x9E3779B1 & M32
        z = (z ^ z >> 15) * 0x85EBCA77 & M32
        return ((z * buckets >> 32) - bucket) % buckets

    def place(h):
        fingerprint = 1 + ((h & M32) * ((1 << width) - 1) >> 32)
        first = (h >> 32) * buckets >> 32
        return fingerprint, (first, alternate(first, fingerprint))

    def insert(h):
        fingerprint, choices = place(h)
        for bucket in choices:
            if 0 in table[bucket]:
                table[bucket][table[bucket].index(0)] = fingerprint
                return
        state, bucket = h, choices[1]
        for _ in range(500):
            state = (state * 6364136223846793005 + 1442695040888963407) & M64
            slot = state >> 62
            table[bucket][slot], fingerprint = fingerprint, table[bucket][slot]
            bucket = alternate(bucket, fingerprint)
            if 0 in table[bucket]:
                table[bucket][table[bucket].index(0)] = fingerprint
                return
        raise ValueError("full")

    def remove(h):
        fingerprint, choices = place(h)
        for bucket in choices:
            if fingerprint in table[bucket]:
                table[bucket][table[bucket].index(fingerprint)] = 0
                return

    for verb, key in operations:
        (insert if verb == "insert" else remove)(key_hash(key, seed))
    body = b""
    for line in range(lines):
        value = 0
        for i in range(per_line):
            for slot in range(4):
                value |= table[line * per_line + i][slot] << (4 * i + slot) * width
        body += value.to_bytes(64, "little")
    held = sum(fingerprint != 0 for bucket in table for fingerprint in bucket)
    families = families_of(key for verb, key in operations if verb == "insert")
    return file_bytes(3, lines, width, seed, held, planned, fpr, families, body)


def windowed(keys, window, parts, fpr, seed):
    each = -(-window // parts)
    ring = [[Bits(*size(each, fpr / (parts + 1))), 0] for _ in range(parts + 1)]
    current = events = fresh = 0
    for key in keys:
        h = key_hash(key, seed)
        if events == each:
            current, events = (current + 1) % len(ring), 0
            ring[current] = [Bits(ring[0][0].blocks, ring[0][0].k), 0]
        events += 1
        fresh += not any(bits.has(h) for bits, _ in ring)
        ring[current][1] += not ring[current][0].has(h)
        ring[current][0].add(h)
    body = struct.pack("<QQQQQq16x", parts, 0, window, current, events, 0)
    for _, held in ring:
        body += struct.pack("<Q56x", held)
    for bits, _ in ring:
        body += bits.body()
    shape = ring[0][0]
    return file_bytes(
        4, shape.blocks, shape.k, seed, fresh, window, fpr, families_of(keys), body
    )


# What the C++ tests do, too.
GOLDEN = {
    "growing": lambda: growing(
        [i // 2 for i in range(400)], planned=20, fpr=0.05, growth=2, grow_at=1, seed=3
    ),
    "growing-at-70": lambda: growing(
        [f"user{i}@example.org" for i in range(150)],
        planned=25,
        fpr=0.1,
        growth=3,
        grow_at=0.7,
        seed=0,
    ),
    "counting": lambda: counting(
        [i % 60 for i in range(100)] + [7] * 20,
        list(range(30)) + [1000],
        planned=100,
        fpr=0.02,
        blocks=2,
        k=5,
        seed=9,
    ),
    "cuckoo": lambda: cuckoo(
        [("insert", i) for i in range(180)] + [("remove", i) for i in range(0, 180, 3)],
        planned=180,
        fpr=0.01,
        lines=4,
        width=10,
        seed=5,
    ),
    "windowed": lambda: windowed([i % 70 for i in range(333)], window=60, parts=3, fpr=0.1, seed=1),
}

if __name__ == "__main__":
    for name, make in GOLDEN.items():
        with open(f"{sys.argv[1]}/{name}.octobloom", "wb") as out:
            out.write(make())
