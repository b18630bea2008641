#!/usr/bin/env python3
"""Holds the command against a model of docs/format.md: golden/octobloom_oracle.py and the reader below.

    python3 format_model.py OCTOBLOOM GOLDEN_FOLDER

Plain Python, and no line shared with the C++ library. Ends with status 1 at the first difference.
"""

import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

COMMAND, GOLDEN = sys.argv[1], pathlib.Path(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(GOLDEN))
import octobloom_oracle as oracle  # noqa: E402

SHAPES = 100


def require(holds, what):
    if not holds:
        sys.exit(f"format_model: {what}")


def read(path):
    """A filter of kind 0 from its bytes, every rule of the page checked."""
    data = pathlib.Path(path).read_bytes()
    require(len(data) >= 128 and data[:8] == b"OCTOBLM\n", f"{path}: no filter")
    version, kind, hash_id, layout, k, size = struct.unpack_from("<HBBBBH", data, 8)
    blocks, seed, inserted, planned = struct.unpack_from("<QQQQ", data, 16)
    (fpr,) = struct.unpack_from("<d", data, 48)
    body_bytes, body_sum = struct.unpack_from("<QQ", data, 56)
    (header_sum,) = struct.unpack_from("<Q", data, 120)
    body = data[128:]
    for field, found, expected in (
        ("version", version, 1),
        ("kind", kind, 0),
        ("hash id", hash_id, 1),
        ("layout", layout, 1),
        ("header size", size, 128),
        ("k", 1 <= k <= 24, True),
        ("blocks", 1 <= blocks < 1 << 32, True),
        ("rate", 0 <= fpr < 1, True),
        ("families", data[72] < 32, True),
        ("reserved bytes", data[73:104], bytes(31)),
        ("size of the body", body_bytes, 64 * blocks),
        ("length", len(body), 64 * blocks),
        ("checksum of the header", header_sum, oracle.xxh64(data[:120])),
        ("checksum of the body", body_sum, oracle.xxh64(body)),
    ):
        require(found == expected, f"{path}: {field} is {found}, expected {expected}")
    model = oracle.Filter(blocks, k, seed, planned, fpr)
    model.words = list(struct.unpack(f"<{8 * blocks}Q", body))
    model.inserted, model.families = inserted, data[72]
    return model


def run(*arguments, lines=(), expected=0):
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run(
        [COMMAND, *map(str, arguments)], input=text, capture_output=True, text=True
    )
    require(
        done.returncode in (expected, 1 if arguments[0] == "check" else expected),
        f"{arguments}: status {done.returncode}: {done.stderr}",
    )
    return done.stdout


def golden_files():
    """Their keys answer yes, to the model and to the command, and the command reads each."""
    count = 0
    for path in sorted(GOLDEN.glob("*.octobloom")):
        if path.read_bytes()[10] != 0:
            continue  # another kind
        model = read(path)
        info = json.loads(run("info", "--json", path))
        for name, value in (
            ("blocks", model.blocks),
            ("k", model.k),
            ("seed", model.seed),
            ("planned_keys", model.capacity),
            ("target_fpr", model.fpr),
            ("inserted_keys", model.inserted),
        ):
            require(info[name] == value, f"{path}: {name} is {info[name]}, the model has {value}")
        lines = [f"spam{i}@malicious.com" for i in range(1950, 2050)]
        answers = run("check", "--any-keys", path, lines=lines).split("\n")[:-1]
        require(answers == [line for line in lines if line in model], f"{path}: other answers")
        count += 1
    require(count >= 9, f"only {count} golden files")
    return count


def random_line(source):
    return "".join(source.choice("abcdefgh éλ.@/0123456789") for _ in range(source.randrange(70)))


def made_files(folder):
    """Files of random shapes are the model's, byte for byte, and answer as it does."""
    source = random.Random(72)
    probes = 0
    for number in range(SHAPES):
        path = folder / f"{number}.octobloom"
        seed = source.choice((0, 1, source.getrandbits(64)))
        if number % 4 == 3:
            n, p = source.randrange(1, 300), 10 ** -source.uniform(0.3, 6)
            run("create", "-n", n, "-p", repr(p), "--seed", seed, "-o", path)
            blank = read(path)
            model = oracle.Filter(blank.blocks, blank.k, seed, n, p)
        else:
            blocks, k = source.randrange(1, 40), number % 24 + 1
            run("create", "--blocks", blocks, "-k", k, "--seed", seed, "-o", path)
            model = oracle.Filter(blocks, k, seed)
        require(path.read_bytes() == model.to_bytes(), f"shape {number}: the empty file differs")
        keys = [random_line(source) for _ in range(source.randrange(1, 120))]
        run("insert", path, lines=keys)
        for key in keys:
            model.insert(key)
        require(path.read_bytes() == model.to_bytes(), f"shape {number}: the file differs")
        require(read(path).words == model.words, f"shape {number}: read otherwise")
        like = folder / "like.octobloom"
        run("create", "--like", path, "-o", like)
        empty = oracle.Filter(model.blocks, model.k, seed, model.capacity, model.fpr)
        require(like.read_bytes() == empty.to_bytes(), f"shape {number}: --like differs")
        asked = keys[:20] + [random_line(source) for _ in range(100)]
        answers = run("check", path, lines=asked).split("\n")[:-1]
        require(answers == [key for key in asked if key in model], f"shape {number}: other answers")
        probes += len(asked)
    return probes


oracle.selfcheck()
files = golden_files()
with tempfile.TemporaryDirectory() as name:
    asked = made_files(pathlib.Path(name))
print(f"{files} golden files and {SHAPES} made ones, {asked} probes: as the model has them")
