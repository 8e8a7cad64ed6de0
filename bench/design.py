"""Choosing 40 measurements of a PUMA: exchange with updates of low rank against plain exchange.

The plain exchange factorises the information of every candidate in every place again, in batched
NumPy.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

import theodolite as th
from table import note
from theodolite.design.criteria import Criterion
from theodolite.design.exchange import SLIGHT, choose
from theodolite.design.information import Information, candidates, information

CHOSEN = 40
NOISE = th.Noise(position=1e-4, known=True)


def known_of(count: int) -> Information:
    robot = th.robots.puma560()
    data = candidates(robot, th.Position(), count, np.random.default_rng(0))
    return information(robot, data, th.Position(), NOISE)


def volume(known: Information, chosen: np.ndarray) -> float:
    rows = known.J[chosen][:, :, known.base].reshape(-1, len(known.base))
    return float(np.linalg.slogdet(rows.T @ rows)[1])


def plain_exchange(known: Information) -> np.ndarray:
    """The same greedy start and the same exchanges, each information factorised anew."""
    J = known.J[:, :, known.base]
    each = J.transpose(0, 2, 1) @ J
    total = SLIGHT * np.eye(len(known.base))
    chosen: list[int] = []
    while len(chosen) < CHOSEN:
        values = np.linalg.slogdet(total + each)[1]
        values[chosen] = -np.inf
        chosen.append(int(np.argmax(values)))
        total = total + each[chosen[-1]]
    changed = True
    while changed:
        changed = False
        for place in range(CHOSEN):
            now = np.linalg.slogdet(total)[1]
            without = total - each[chosen[place]]
            values = np.linalg.slogdet(without + each)[1]
            values[chosen] = -np.inf
            best = int(np.argmax(values))
            if values[best] > now + 1e-9 * abs(now):
                total = without + each[best]
                chosen[place], changed = best, True
    return np.array(chosen)


def main() -> None:
    small, large = known_of(1000), known_of(10_000)
    rng = np.random.default_rng(1)
    start = perf_counter()
    ours = choose(small, CHOSEN, Criterion.D, rng, starts=1)
    own = perf_counter() - start
    start = perf_counter()
    plain = plain_exchange(small)
    other = perf_counter() - start
    print("40 of 1000 candidates, PUMA, position measure")
    print(f"  updates of low rank    {own:7.2f} s   log det {volume(small, ours.chosen):.3f}")
    print(f"  factorised each time   {other:7.2f} s   log det {volume(small, plain):.3f}")
    print(f"  ratio                  {other / own:7.1f}")
    note("choose 40 of 1000", f"{1e3 * own:.0f} ms", "factorised at each step", other / own)
    start = perf_counter()
    many = choose(large, CHOSEN, Criterion.D, rng, starts=1)
    took = perf_counter() - start
    random = max(
        volume(large, rng.choice(len(large), CHOSEN, replace=False)) for _ in range(20_000)
    )
    note("choose 40 of 10 000", f"{took:.2f} s")
    print("40 of 10000 candidates")
    print(f"  updates of low rank    {took:7.2f} s   log det {volume(large, many.chosen):.3f}")
    print(f"  best of 20000 random                log det {random:.3f}")


if __name__ == "__main__":
    main()
