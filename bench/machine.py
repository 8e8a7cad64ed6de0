"""What this machine can do at most: write to memory, and multiply matrices."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Wall time, the best of some repeats."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def write_bandwidth(megabytes: int = 200) -> float:
    """Bytes per second that one thread writes into memory it already has."""
    memory = np.zeros(megabytes * 125_000)
    return memory.nbytes / seconds(lambda: memory.fill(1.0))


def dgemm(size: int = 1000) -> float:
    """Floating-point operations per second of a product of square matrices."""
    A = np.random.default_rng(0).standard_normal((size, size))
    return 2.0 * size**3 / seconds(lambda: A @ A)


def slope(sizes: list[int], times: list[float]) -> float:
    """Exponent with which time grows: the slope of a line through logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def main() -> None:
    print(f"write bandwidth {write_bandwidth() / 1e9:.1f} GB/s, one thread")
    print(f"dgemm {dgemm() / 1e9:.0f} Gflop/s")


if __name__ == "__main__":
    main()
