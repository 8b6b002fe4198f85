"""Figures, of Leat alone or of Leat and a peer in pairs: what they come to, printed and kept."""

import json
from pathlib import Path


def median_interval(values: list[float]) -> tuple[float, float, float]:
    """The median, and the order statistics between which it is with at least 95 %."""
    values = sorted(values)
    count = len(values)
    median = (values[(count - 1) // 2] + values[count // 2]) / 2
    rank, tail, term = 0, 0.0, 0.5 ** count
    while rank < count // 2 and tail + term <= 0.025:
        tail += term
        term *= (count - rank) / (rank + 1)
        rank += 1
    rank = max(rank - 1, 0)
    return median, values[rank], values[count - 1 - rank]


class Report:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.missed: list[str] = []

    def pairs(self, what: str, peer: str, leat: list[float], other: list[float], unit: str,
              at_least: float | None = None, at_most: float | None = None) -> None:
        interval = median_interval([a / b for a, b in zip(leat, other)])
        ours, theirs = median_interval(leat)[0], median_interval(other)[0]
        self._line(what, f"{ours:,.1f} {unit}, {peer} {theirs:,.1f}:", "x", interval,
                   at_least, at_most)
        self._keep({"what": what, "peer": peer, "unit": unit, "leat": leat, "other": other,
                    "ratio": interval})

    def values(self, what: str, leat: list[float], unit: str, at_least: float | None = None,
               at_most: float | None = None) -> None:
        interval = median_interval(leat)
        self._line(what, "", unit, interval, at_least, at_most)
        self._keep({"what": what, "unit": unit, "leat": leat})

    def _line(self, what: str, told: str, unit: str, interval: tuple[float, float, float],
              at_least: float | None, at_most: float | None) -> None:
        median, low, high = interval
        verdict = ""
        if at_least is not None:
            verdict = f", bar >= {at_least:,.3g}: " + ("MISSED" if high < at_least else "met")
        if at_most is not None:
            verdict = f", bar <= {at_most:,.3g}: " + ("MISSED" if low > at_most else "met")
        if "MISSED" in verdict:
            self.missed.append(what)
        print(f"{what}: {told} {median:,.2f} [{low:,.2f}, {high:,.2f}] {unit}{verdict}", flush=True)

    def _keep(self, entry: dict) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
