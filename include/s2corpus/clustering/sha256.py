"""SHA-256 of many short strings (FIPS 180-4): hashlib spends more on making an object for each than on its hash, and on one core."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa

from s2corpus.clustering.nodes import THREADS
from s2corpus.compiled import njit
from s2corpus.titles.arrays import text_of

_AT_ONCE = 1 << 15
_PRIMES = [n for n in range(2, 312) if all(n % d for d in range(2, n))]
_ROUNDS = np.array([int(prime ** (1 / 3) % 1 * 2**32) for prime in _PRIMES], np.uint32)
_BEGIN = np.array([int(prime**0.5 % 1 * 2**32) for prime in _PRIMES[:8]], np.uint32)
"""The first 32 bits of the fractions of the cube roots of the first 64 primes, and of the square roots of the first 8."""


def first_64_bits(strings: pa.Array) -> np.ndarray:
    """The first 64 bits of the SHA-256 of each string's UTF-8, uint64."""
    pieces = [strings.slice(at, _AT_ONCE) for at in range(0, len(strings), _AT_ONCE)]
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda piece: _hashes(*text_of(piece), _ROUNDS, _BEGIN), pieces))
    return np.concatenate([np.empty(0, np.uint64), *found])


@njit(cache=True, nogil=True)
def _hashes(offsets: np.ndarray, data: np.ndarray, rounds: np.ndarray, begin: np.ndarray) -> np.ndarray:
    out = np.empty(len(offsets) - 1, np.uint64)
    words, state = np.empty(64, np.uint32), np.empty(8, np.uint32)
    for row in range(len(out)):
        first, size = offsets[row], offsets[row + 1] - offsets[row]
        state[:] = begin
        for block in range(0, size + 9, 64):
            for k in range(16):
                word = np.uint32(0)
                for at in range(block + 4 * k, block + 4 * k + 4):
                    byte = data[first + at] if at < size else np.uint8(128 if at == size else 0)
                    word = word << np.uint32(8) | np.uint32(byte)
                words[k] = word
            if block + 64 >= size + 9:
                words[15] = size << 3
                words[14] = size >> 29
            _add_block(words, state, rounds)
        out[row] = np.uint64(state[0]) << np.uint64(32) | np.uint64(state[1])
    return out


@njit(cache=True, nogil=True)
def _add_block(words: np.ndarray, state: np.ndarray, rounds: np.ndarray) -> None:
    """Section 6.2.2: the schedule from its first 16 words, and the rounds."""
    for k in range(16, 64):
        x, y = words[k - 15], words[k - 2]
        low = _right(x, 7) ^ _right(x, 18) ^ (x >> np.uint32(3))
        high = _right(y, 17) ^ _right(y, 19) ^ (y >> np.uint32(10))
        words[k] = words[k - 16] + low + words[k - 7] + high
    a, b, c, d, e, f, g, h = state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
    for k in range(64):
        one = h + (_right(e, 6) ^ _right(e, 11) ^ _right(e, 25)) + ((e & f) ^ (~e & g)) + rounds[k] + words[k]
        two = (_right(a, 2) ^ _right(a, 13) ^ _right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
        h, g, f, e, d, c, b, a = g, f, e, np.uint32(d + one), c, b, a, np.uint32(one + two)
    for k, value in enumerate((a, b, c, d, e, f, g, h)):
        state[k] += value


@njit(cache=True, nogil=True)
def _right(word: np.uint32, bits: int) -> np.uint32:
    """A word rotated."""
    return np.uint32(word >> np.uint32(bits) | word << np.uint32(32 - bits))
