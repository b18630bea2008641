#!/usr/bin/env python3
"""Golden hashes of columns' values, type by type, from the rules of docs/format.md.

Plain Python over octobloom_oracle.py, no line shared with the C++ library:

    python3 column_oracle.py > columns.tsv
"""

import random
import struct

from octobloom_oracle import key_hash, xxh64

NUMBERS = {
    "boolean": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q",
    "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
    "float16": "e", "float32": "f", "float64": "d",
    "decimal32": "i", "decimal64": "q",
}  # fmt: skip


def decimal_hash(value, width, seed):
    """The shortest of 8, 16 and `width` bytes that hold the unscaled value, two's complement."""
    size = next(s for s in (8, 16, width) if -(1 << 8 * s - 1) <= value < 1 << 8 * s - 1)
    return xxh64(value.to_bytes(size, "little", signed=True), seed)


def numbers(name, code, rng):
    size = struct.calcsize(code)
    for pattern in (b"\0", b"\1", b"\x7f", b"\x80", b"\xff", b"\x55"):
        yield (pattern * size if name != "boolean" else bytes([pattern[0] & 1]))
    if name == "boolean":
        return
    if name.startswith("float"):
        special = (-0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan"), 0.1)
        yield from (struct.pack("<" + code, x) for x in special)
        yield b"\1" + b"\0" * (size - 1)  # the smallest subnormal
    yield from (rng.randbytes(size) for _ in range(20))


def decimals(width, rng):
    for bits in (0, 1, 31, 63, 64, 65, 127, 128, 129, 191, 255):
        for value in (1 << bits, (1 << bits) - 1, -(1 << bits), -(1 << bits) - 1):
            if -(1 << 8 * width - 1) <= value < 1 << 8 * width - 1:
                yield value
    for _ in range(20):
        yield rng.getrandbits(rng.randrange(1, 8 * width)) * rng.choice((1, -1))


def rows():
    rng = random.Random(12)
    for seed in (0, 0x9E3779B97F4A7C15):
        for name, code in NUMBERS.items():
            for data in numbers(name, code, rng):
                (value,) = struct.unpack("<" + code, data)
                yield name, data, seed, key_hash(value, seed)
        for name, width in (("decimal128", 16), ("decimal256", 32)):
            for value in decimals(width, rng):
                data = value.to_bytes(width, "little", signed=True)
                yield name, data, seed, decimal_hash(value, width, seed)
        for size in (*range(34), 63, 64, 65, 200):
            data = rng.randbytes(size)
            yield "binary", data, seed, key_hash(data, seed)


print("type\tbytes\tseed\thash")
for name, data, seed, value in rows():
    print(f"{name}\t{data.hex()}\t{seed}\t{value:016x}")
