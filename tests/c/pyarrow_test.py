"""The C door driven with pyarrow's arrays through ctypes, held against the independent oracle.

    pyarrow_test.py LIBRARY [unittest arguments]
"""

import ctypes as c
import datetime
import decimal
import pathlib
import random
import struct
import sys
import threading
import unittest

import pyarrow as pa

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "golden"))
from octobloom_oracle import key_hash, xxh64  # noqa: E402

OK, INVALID_ARGUMENT, WRONG_KEY = 0, 1, 6
PLAIN, GROWING, COUNTING, CUCKOO, WINDOWED = range(5)
INTEGERS, FLOATS, STRINGS, COMPOSITES = 1, 2, 4, 8
ALL_THREADS = 2**32 - 1
NULL_COLUMN = 0x6E756C6C6E756C6C

lib = c.CDLL(sys.argv.pop(1))
lib.octobloom_message.restype = c.c_char_p
lib.octobloom_kind_abilities.restype = c.c_uint32


class Schema(c.Structure):
    """ArrowSchema, as opaque memory of its size."""

    _fields_ = [("memory", c.c_uint64 * 9)]


class Array(c.Structure):
    _fields_ = [
        ("length", c.c_int64),
        ("null_count", c.c_int64),
        ("offset", c.c_int64),
        ("n_buffers", c.c_int64),
        ("n_children", c.c_int64),
        ("buffers", c.POINTER(c.c_void_p)),
        ("rest", c.c_uint64 * 4),
    ]


class Sized(c.Structure):
    def __init__(self, **fields):
        super().__init__(**fields)
        self.size = c.sizeof(self)


class CreateOptions(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("kind", c.c_int32),
        ("callers_hashes", c.c_int32),
        ("seed", c.c_uint64),
        ("expected_keys", c.c_uint64),
        ("target_fpr", c.c_double),
        ("blocks", c.c_uint64),
        ("k", c.c_uint32),
        ("growth", c.c_uint32),
        ("grow_at", c.c_double),
        ("window_events", c.c_uint64),
        ("window_nanoseconds", c.c_uint64),
        ("window_parts", c.c_uint32),
        ("reserved", c.c_uint32),
        ("engine", c.c_char_p),
    ]


class CallOptions(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("engine", c.c_char_p),
        ("threads", c.c_uint32),
        ("any_family", c.c_int32),
    ]


class Answers(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("bitmap", c.c_void_p),
        ("valid", c.c_void_p),
        ("array", c.POINTER(Array)),
        ("schema", c.POINTER(Schema)),
        ("count", c.c_uint64),
    ]


class Keys(c.Structure):
    _fields_ = [
        ("kind", c.c_int32),
        ("count", c.c_size_t),
        ("values", c.c_void_p),
        ("bytes", c.c_void_p),
        ("offsets", c.c_void_p),
        ("separator", c.c_uint64),
        ("family", c.c_int32),
    ]


class Refused(Exception):
    def __init__(self, status):
        super().__init__(lib.octobloom_message().decode())
        self.status = status


def check(status):
    if status != OK:
        raise Refused(status)


class Exported:
    """An array in the C Data Interface, released when it goes."""

    def __init__(self, array):
        self.schema, self.array = Schema(), Array()
        array._export_to_c(c.addressof(self.array), c.addressof(self.schema))

    def __del__(self):
        pa.Array._import_from_c(c.addressof(self.array), c.addressof(self.schema))

    @property
    def pointers(self):
        return c.byref(self.schema), c.byref(self.array)


class Filter:
    def __init__(self, kind=PLAIN, keys=10_000, fpr=1e-6, seed=7, handle=None, **more):
        self.handle = handle or c.c_void_p()
        if handle is None:
            if kind == WINDOWED:
                more["window_nanoseconds"] = 3600 * 10**9
            options = CreateOptions(
                kind=kind, expected_keys=keys, target_fpr=fpr, seed=seed, **more
            )
            check(lib.octobloom_filter_create(c.byref(options), c.byref(self.handle)))

    def __del__(self):
        lib.octobloom_filter_destroy(self.handle)

    def insert(self, array, **options):
        inserted = c.c_uint64()
        exported = Exported(array)
        check(
            lib.octobloom_filter_insert_arrow(
                self.handle, *exported.pointers, call(options), c.byref(inserted)
            )
        )
        return inserted.value

    def ask(self, what, array, **options):
        """The answers as an Arrow array, compared with the bitmaps on the way."""
        rows = len(array)
        array_out, schema_out = Array(), Schema()
        bitmap, valid = (c.create_string_buffer(b"\xaa" * (rows // 8 + 2)) for _ in range(2))
        answers = Answers(
            bitmap=c.addressof(bitmap),
            valid=c.addressof(valid),
            array=c.pointer(array_out),
            schema=c.pointer(schema_out),
        )
        exported = Exported(array)
        function = getattr(lib, f"octobloom_filter_{what}_arrow")
        check(function(self.handle, *exported.pointers, call(options), c.byref(answers)))
        result = pa.Array._import_from_c(c.addressof(array_out), c.addressof(schema_out))
        result.validate(full=True)
        assert result.type == pa.bool_() and len(result) == rows
        got = result.to_pylist()
        assert got == bits_of(bitmap, valid, rows), "bitmaps and array differ"
        assert answers.count == sum(one is True for one in got)
        # Counting alone comes to the same, where that changes nothing.
        if what == "may_contain":
            alone = Answers()
            check(function(self.handle, *exported.pointers, call(options), c.byref(alone)))
            assert alone.count == answers.count
        return got

    def to_bytes(self):
        size = c.c_uint64()
        check(lib.octobloom_filter_to_bytes(self.handle, None, c.c_uint64(0), c.byref(size)))
        memory = c.create_string_buffer(size.value)
        check(lib.octobloom_filter_to_bytes(self.handle, memory, size, c.byref(size)))
        return memory.raw

    @staticmethod
    def from_bytes(data):
        handle = c.c_void_p()
        check(
            lib.octobloom_filter_from_bytes(data, c.c_uint64(len(data)), None, c.byref(handle))
        )
        return Filter(handle=handle)


def call(options):
    return c.byref(CallOptions(**options)) if options else None


def bits_of(bitmap, valid, rows):
    def bit(bits, row):
        return bits.raw[row // 8] >> row % 8 & 1 == 1

    for bits in (bitmap, valid):
        assert bits.raw[(rows + 7) // 8] == 0xAA, "written beyond its end"
        if rows % 8:
            assert bits.raw[rows // 8] >> rows % 8 == 0, "a tail that is not zero"
    return [bit(bitmap, i) if bit(valid, i) else None for i in range(rows)]


def hashes_of(array, seed):
    """By the library: hashes, None for null rows; and the family."""
    rows = len(array)
    hashes = (c.c_uint64 * max(rows, 1))()
    valid = c.create_string_buffer(rows // 8 + 1)
    family = c.c_int32(99)
    exported = Exported(array)
    check(
        lib.octobloom_hash_arrow(
            *exported.pointers, c.c_uint64(seed), None, hashes, valid, c.byref(family)
        )
    )
    present = [valid.raw[i // 8] >> i % 8 & 1 for i in range(rows)]
    return [hashes[i] if present[i] else None for i in range(rows)], family.value


def expected_hashes(array, seed):
    """By the oracle, from Python's values."""
    kind = array.type
    if pa.types.is_struct(kind):
        columns = [expected_hashes(array.field(i), seed) for i in range(kind.num_fields)]
        return [
            xxh64(
                b"".join(struct.pack("<Q", NULL_COLUMN if h is None else h) for h in row), seed
            )
            for row in zip(*columns)
        ]
    if pa.types.is_dictionary(kind):
        return expected_hashes(array.dictionary_decode(), seed)
    if pa.types.is_null(kind):
        return [None] * len(array)
    if pa.types.is_decimal(kind):
        exact = decimal.Context(prec=100)
        numbers = [None if v is None else int(v.scaleb(kind.scale, exact)) for v in array.to_pylist()]
        width = max(kind.bit_width // 8, 8)
        return [None if v is None else decimal_hash(v, width, seed) for v in numbers]
    if pa.types.is_temporal(kind):
        array = array.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    values = array.to_pylist()
    if pa.types.is_floating(kind):
        values = [None if v is None else float(v) for v in values]
    return [None if v is None else key_hash(v, seed) for v in values]


def decimal_hash(value, width, seed):
    """The shortest of 8, 16 and `width` bytes that hold the unscaled value, two's complement."""
    size = next(s for s in (8, 16, width) if -(1 << 8 * s - 1) <= value < 1 << 8 * s - 1)
    return xxh64(value.to_bytes(size, "little", signed=True), seed)


def samples():
    """(array, family): every type that is a key, thirty-odd rows, nulls among them."""
    rng = random.Random(5)

    def with_nulls(values):
        return [None if i % 7 == 3 else v for i, v in enumerate(values)]

    yield pa.array(with_nulls([rng.random() < 0.5 for _ in range(35)]), pa.bool_()), INTEGERS
    for bits in (8, 16, 32, 64):
        for signed in (True, False):
            low = -(1 << bits - 1) if signed else 0
            values = [low, low + (1 << bits) - 1, 0, 1]
            values += [rng.randrange(low, low + (1 << bits)) for _ in range(31)]
            kind = getattr(pa, f"{'' if signed else 'u'}int{bits}")()
            yield pa.array(with_nulls(values), kind), INTEGERS
    special = [0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan"), -2.25, 0.1, 3e-7]
    for kind in (pa.float32(), pa.float64()):
        yield pa.array(with_nulls(special * 4), kind), FLOATS
    halves = pa.array(with_nulls(special * 4), pa.float32()).cast(pa.float16())
    yield halves, FLOATS

    numbers = [rng.randrange(0, 80_000) for _ in range(33)]
    large = [rng.randrange(-(1 << 60), 1 << 60) for _ in range(33)]
    for kind in (pa.date32(), pa.time32("s"), pa.time32("ms")):
        yield pa.array(with_nulls(numbers), pa.int32()).cast(kind), INTEGERS
    day = 86_400_000
    yield pa.array(with_nulls([n * day for n in numbers]), pa.int64()).cast(pa.date64()), INTEGERS
    for kind in (pa.time64("us"), pa.time64("ns")):
        yield pa.array(with_nulls(numbers), pa.int64()).cast(kind), INTEGERS
    for unit in ("s", "ms", "us", "ns"):
        yield pa.array(with_nulls(large), pa.int64()).cast(pa.timestamp(unit)), INTEGERS
        yield pa.array(with_nulls(large), pa.int64()).cast(pa.duration(unit)), INTEGERS
    yield (
        pa.array(with_nulls(numbers), pa.int64()).cast(pa.timestamp("us", "Europe/Paris")),
        INTEGERS,
    )

    for kind in (
        pa.decimal32(9, 2),
        pa.decimal64(18, 5),
        pa.decimal128(38, 10),
        pa.decimal128(20, -2),
        pa.decimal256(76, 4),
    ):
        top = 10**kind.precision - 1
        unscaled = [0, 1, -1, top, -top] + [rng.randrange(-top, top) for _ in range(30)]
        unscaled += [n for n in (1 << 63, -(1 << 63), (1 << 63) - 1, 1 << 127) if abs(n) <= top]
        exact = decimal.Context(prec=100)
        values = [decimal.Decimal(n).scaleb(-kind.scale, exact) for n in unscaled]
        yield pa.array(with_nulls(values), kind), INTEGERS

    words = ["", "a", "été", "twelve bytes", "thirteen byte", "x" * 100, "\0", "日本"] * 5
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        yield pa.array(with_nulls(words), kind), STRINGS
    data = [word.encode() for word in words]
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        yield pa.array(with_nulls(data), kind), STRINGS
    yield pa.array(with_nulls([rng.randbytes(7) for _ in range(33)]), pa.binary(7)), STRINGS
    yield pa.array(with_nulls([rng.randbytes(16) for _ in range(33)]), pa.binary(16)), STRINGS

    for index in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(),
                  pa.int64(), pa.uint64()):  # fmt: skip
        indices = pa.array(with_nulls([rng.randrange(5) for _ in range(37)]), index)
        yield (
            pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b", None, "", "e" * 20])),
            STRINGS,
        )
    indices = pa.array([rng.randrange(3) for _ in range(20)], pa.int32())
    yield pa.DictionaryArray.from_arrays(indices, pa.array([1.5, -0.0, 2.0])), FLOATS
    yield pa.DictionaryArray.from_arrays(indices, pa.array([7, None, 9])[0:]), INTEGERS
    yield pa.DictionaryArray.from_arrays(indices, pa.array([5, 7, 8, 9, 3])[1:4]), INTEGERS
    yield pa.nulls(21), 0

    left = pa.array(with_nulls(range(30)), pa.int32())
    right = pa.array([None if i % 5 == 0 else f"word {i}" for i in range(30)])
    yield pa.StructArray.from_arrays([left, right], ["n", "w"]), COMPOSITES
    yield pa.StructArray.from_arrays([left], ["n"]), COMPOSITES
    coded = right.dictionary_encode()
    yield pa.StructArray.from_arrays([coded, left, pa.nulls(30)], ["w", "n", "0"]), COMPOSITES
    batch = pa.record_batch([left[4:24], right.cast(pa.string_view())[4:24]], ["n", "w"])
    yield batch.to_struct_array(), COMPOSITES


def variants(array):
    """The same array in the ways that arrays come: sliced, empty, without nulls, rebuilt."""
    yield array
    yield array[1:]
    yield array[3:-2]
    yield array[9:10]
    yield array[8:24]
    yield array[:0]
    if array.type in (pa.string_view(), pa.binary_view()):  # pyarrow does not filter these
        yield pa.array([v for v in array.to_pylist() if v is not None], array.type)
    elif not pa.types.is_null(array.type):
        yield array.drop_null()
    if not (pa.types.is_null(array.type) or pa.types.is_struct(array.type)):
        yield pa.concat_arrays([array, array[2:], array])


class Door(unittest.TestCase):
    def test_hashes_of_every_type(self):
        compared = 0
        for array, family in samples():
            for some in variants(array):
                for seed in (0, 0x9E3779B97F4A7C15):
                    with self.subTest(type=array.type, rows=len(some), seed=seed):
                        hashes, told = hashes_of(some, seed)
                        self.assertEqual(hashes, expected_hashes(some, seed))
                        self.assertEqual(told, family)
                        compared += len(some)
        self.assertGreater(compared, 20_000)

    def test_answers_of_every_type_and_kind(self):
        for array, family in samples():
            half = len(array) // 2
            first, second = array[:half], array[half - 3 :]
            known = {h for h in expected_hashes(first, 7) if h is not None}
            seen = expected_hashes(second, 7)
            present = [None if h is None else h in known for h in seen]
            fresh, met = [], set(known)
            for h in seen:
                fresh.append(None if h is None else h not in met)
                met.add(h)
            for kind in range(5):
                with self.subTest(type=array.type, kind=kind):
                    f = Filter(kind)
                    valid = sum(h is not None for h in expected_hashes(first, 7))
                    if kind == CUCKOO:  # a set: it has room for a key eight times only
                        f.ask("insert_new", first)
                    else:
                        self.assertEqual(f.insert(first), valid)
                    self.assertEqual(f.ask("may_contain", second), present)
                    self.assertEqual(
                        f.ask("may_contain", second, engine=b"reference", threads=ALL_THREADS),
                        present,
                    )
                    self.assertEqual(f.ask("insert_new", second), fresh)
                    back = Filter.from_bytes(f.to_bytes())
                    everything = [None if h is None else True for h in seen]
                    self.assertEqual(back.ask("may_contain", second), everything)

    def test_removes(self):
        for array, family in samples():
            for kind in (COUNTING, CUCKOO):
                with self.subTest(type=array.type, kind=kind):
                    f = Filter(kind)
                    empty = f.to_bytes()
                    f.ask("insert_new", array)
                    met, expected = set(), []
                    for h in expected_hashes(array, 7):
                        expected.append(None if h is None else h not in met)
                        met.add(h)
                    self.assertEqual(f.ask("remove", array), expected)
                    self.assertEqual(f.to_bytes()[128:], empty[128:])
        f = Filter(PLAIN)
        with self.assertRaisesRegex(Refused, "cannot take keys back"):
            f.ask("remove", pa.array([1]))

    def test_a_million_large_strings_in_chunks(self):
        rows = 1_000_000
        words = [f"key number {i * 7919 % 700_000}" for i in range(rows)]
        words[::11] = [None] * len(words[::11])
        whole = pa.array(words, pa.large_string())
        chunked = pa.chunked_array([whole[:1], whole[1:300_001], whole[300_001:900_000],
                                    whole[900_000:900_000], whole[900_000:]])  # fmt: skip
        distinct = {w for w in words if w is not None}
        by_chunk = Filter(keys=len(distinct), fpr=0.001)
        fresh = 0
        for chunk in chunked.chunks:
            fresh += sum(one is True for one in by_chunk.ask("insert_new", chunk, threads=2))
        self.assertLessEqual(fresh, len(distinct))
        self.assertGreater(fresh, len(distinct) * 0.999)

        at_once = Filter(keys=len(distinct), fpr=0.001)
        self.assertEqual(at_once.ask("insert_new", whole).count(True), fresh)
        self.assertEqual(at_once.to_bytes(), by_chunk.to_bytes())

        # The same keys without Arrow.
        dense = whole.drop_null()
        _, offsets, data = dense.buffers()
        keys = Keys(kind=2, count=len(dense), bytes=data.address, offsets=offsets.address)
        plain = Filter(keys=len(distinct), fpr=0.001)
        count = c.c_uint64()
        check(
            lib.octobloom_filter_insert_new(
                plain.handle, c.byref(keys), None, None, c.byref(count)
            )
        )
        self.assertEqual(count.value, fresh)
        self.assertEqual(plain.to_bytes(), by_chunk.to_bytes())

        answers = by_chunk.ask("may_contain", whole)
        self.assertEqual(answers, [None if w is None else True for w in words])
        strangers = pa.array([f"stranger {i}" for i in range(200_000)], pa.large_string())
        false_positives = by_chunk.ask("may_contain", strangers).count(True)
        # 0.001 of 200,000: four standard deviations.
        self.assertTrue(143 <= false_positives <= 257, false_positives)
        sample = range(0, rows, 9973)
        hashes, _ = hashes_of(whole, 7)
        for i in sample:
            self.assertEqual(hashes[i], None if words[i] is None else key_hash(words[i], 7))

    def test_other_families_are_mistakes(self):
        f = Filter()
        f.insert(pa.array([1, 2, 3]))
        with self.assertRaisesRegex(Refused, "strings") as refused:
            f.ask("may_contain", pa.array(["1"]))
        self.assertEqual(refused.exception.status, WRONG_KEY)
        self.assertEqual(f.ask("may_contain", pa.array(["1"]), any_family=1), [False])
        self.assertEqual(f.ask("may_contain", pa.nulls(3)), [None] * 3)
        self.assertEqual(f.ask("may_contain", pa.array([], pa.string())), [])
        self.assertEqual(f.ask("may_contain", pa.array([3, None, 4], pa.uint8())), [True, None, False])

    def test_what_is_no_key(self):
        numbers = pa.array([1, 2, 3])
        structs = pa.array([{"a": 1}, None, {"a": 2}])
        for array, words in (
            (pa.array([[1], [2]]), "nested"),
            (pa.array([[1, 2]], pa.list_(pa.int8(), 2)), "nested"),
            (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())), "nested"),
            (pa.array([pa.MonthDayNano([1, 2, 3])]), "interval"),
            (pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"]), "run ends"),
            (pa.UnionArray.from_sparse(pa.array([0, 0, 0], pa.int8()), [numbers]), "nested"),
            (structs, "null structs"),
            (pa.StructArray.from_arrays([structs.drop_null()], ["inner"]), "column 0 .*struct"),
            (pa.StructArray.from_arrays([], names=[]), "at least one column"),
        ):
            with self.subTest(type=array.type):
                f = Filter()
                before = f.to_bytes()
                with self.assertRaisesRegex(Refused, words) as refused:
                    f.insert(array)
                self.assertEqual(refused.exception.status, INVALID_ARGUMENT)
                self.assertEqual(f.to_bytes(), before)
        # Nulls outside of a slice are no matter.
        self.assertEqual(Filter().insert(structs[2:]), 1)

    def test_views_beyond_their_buffers(self):
        array = pa.array(["short", "a string that is long enough", None, "another long string!"],
                         pa.string_view())  # fmt: skip
        _, views, *_ = array.buffers()
        # Length, buffer and offset of a row's 16 bytes.
        for place, value in ((0, 2**31 - 1), (8, 7), (12, 30), (12, 2**31 - 1), (8, -1)):
            with self.subTest(place=place, value=value):
                data = bytearray(views.to_pybytes())
                struct.pack_into("<i", data, 16 + place, value)
                exported = Exported(array)
                memory = c.create_string_buffer(bytes(data), len(data))
                kept = exported.array.buffers[1]
                exported.array.buffers[1] = c.addressof(memory)
                f = Filter()
                status = lib.octobloom_filter_insert_arrow(
                    f.handle, *exported.pointers, None, None
                )
                exported.array.buffers[1] = kept
                self.assertEqual(status, INVALID_ARGUMENT)
                self.assertIn(b"in row 1 a view", lib.octobloom_message())

    def test_indices_beyond_the_dictionary(self):
        array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 9], pa.int8()), ["a", "b"], safe=False)
        with self.assertRaisesRegex(Refused, "row 2 an index outside its dictionary of 2 values"):
            Filter().insert(array)

    def test_questions_of_many_threads(self):
        array = pa.array([f"row {i}" for i in range(20_000)])
        f = Filter(keys=20_000)
        f.insert(array)
        wrong = []

        def ask():
            for _ in range(5):
                if f.ask("may_contain", array).count(True) != len(array):
                    wrong.append(1)

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_dates_are_days_and_moments_are_units(self):
        day = pa.array([datetime.date(2026, 12, 4)])
        self.assertEqual(hashes_of(day, 0)[0], [key_hash(20_791, 0)])
        moment = pa.array([datetime.datetime(1970, 1, 1, 0, 0, 1)], pa.timestamp("ms"))
        self.assertEqual(hashes_of(moment, 0)[0], [key_hash(1000, 0)])


if __name__ == "__main__":
    unittest.main()
