#!/usr/bin/env python3
"""False-positive rates and plans, after docs/format.md and, for cuckoo, docs/format-kinds.md."""

import functools
import itertools
import math

M32 = (1 << 32) - 1


@functools.lru_cache(None)
def probe_coefficients(b):
    """A_b(l) · 64^b, whole numbers, for l = 0 ... b."""
    stirling = [[1]]
    for i in range(1, b + 1):
        row = [0] * (i + 1)
        for d in range(1, i + 1):
            row[d] = stirling[-1][d - 1] + (d * stirling[-1][d] if d < i else 0)
        stirling.append(row)
    cells = [stirling[b][d] * math.perm(64, d) for d in range(b + 1)]
    return [(-1) ** l * sum(cells[d] * math.comb(d, l) for d in range(b + 1)) for l in range(b + 1)]


@functools.lru_cache(None)
def partial_terms(k):
    """k with a partial round: the sum's pairs (product of A, M), those of equal M together."""
    a, r = divmod(k, 8)
    coefficients = [probe_coefficients(a + 1 if w < r else a) for w in range(8)]
    power = [[(64 - l) ** n for l in range(a + 2)] for n in (a, a + 1)]
    probed = [[power[(w - s) % 8 < r] for w in range(8)] for s in range(8)]
    terms = {}  # both numbers times powers of 64, so whole
    for ls in itertools.product(*[range(len(c)) for c in coefficients]):
        mean = sum(math.prod(words[w][l] for w, l in enumerate(ls)) for words in probed)
        product = math.prod(coefficients[w][l] for w, l in enumerate(ls))
        terms[mean] = terms.get(mean, 0) + product
    return [(c / 64**k, m / (8 * 64**k)) for m, c in terms.items()]


def rate_at_load(load, k):
    a, r = divmod(k, 8)
    if r:
        total = math.fsum(c * math.exp(load * (m - 1)) for c, m in partial_terms(k))
    else:
        coefficients = [c / 64**a for c in probe_coefficients(a)]
        terms = []
        for i in range(int(load + 12 * math.sqrt(load) + 60)):
            poisson = math.exp(i * math.log(load) - load - math.lgamma(i + 1))
            probe = math.fsum(c * (1 - l / 64) ** (a * i) for l, c in enumerate(coefficients))
            terms.append(poisson * max(probe, 0.0) ** 8)
        total = math.fsum(terms)
    return min(1.0, total + load / 2**32)


def rate(n, blocks, k):
    if blocks < 1 << 20:
        return rate_at_load(n / blocks, k)
    v, more = divmod(1 << 32, blocks)
    return (blocks - more) * v / 2**32 * rate_at_load(n * v / 2**32, k) + more * (
        v + 1
    ) / 2**32 * rate_at_load(n * (v + 1) / 2**32, k)


@functools.lru_cache(None)
def plan(n, p):
    """The fewest blocks, and of these the smallest k; None when that needs 2^32 blocks or more."""
    best = None
    for k in range(1, 25):
        low, high = 0, best[0] - 1 if best else M32  # the first one of a k must need fewer blocks
        if high < 1 or rate(n, high, k) > p:
            if best and k > best[1] + 4:
                break  # rates get worse quickly beyond the best k
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if rate(n, middle, k) <= p else (middle, high)
        best = (high, k)
    return best


def cuckoo_plan(n, p):
    """The fewest lines, and of these the shortest fingerprints."""

    def fits(lines, f):
        slots = 4 * lines * (128 // f)
        return slots >= n / 0.94 + 12 and 1 - (1 - n / slots / (2**f - 1)) ** 8 <= p

    found = []
    for f in range(8, 33):
        low, high = 0, 1
        while not fits(high, f) and high < 1 << 32:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle, f) else (middle, high)
        if fits(high, f):
            found.append((high, f))
    return min(found)
