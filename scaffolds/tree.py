"""A tree of attempts: which node is gone on from, and what came of it. Pure functions over small data; nothing is changed in place.

A node is an attempt that passes and can be planned on, or one that fails and can be repaired. What can be neither is no node.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

from scaffolds.rank import ordered, pace
from scaffolds.state import Attempt

DISCOUNT = 0.9
"""What a node is worth less for each expansion that gave nothing faster, and for each repair that failed."""
REGAIN = 2
"""Rounds of decay that each round without a gain takes back."""
MAX_OUTCOME = 100
"""Characters of what came of a plan."""


class Node(TypedDict):
    attempt: Attempt
    base: str | None
    """The working node that its plan was for; None of a seed, and where that has left the tree."""
    family: str
    """Of the strategy that made it."""
    repairs: int
    """Of a failing node, how often it was repaired in vain."""
    visits: int
    """Attempts made from it and from its descendants."""
    best: float | None
    """The highest speed of itself and of its descendants."""
    fruitless: int
    """Plans for it in a row that made nothing faster."""
    tried: dict[str, str]
    """By family, what came of plans for it that made nothing faster."""


Tree = dict[str, Node]


def passes(node: Node) -> bool:
    return node["attempt"]["verdict"] == "pass"


def usable(attempt: Attempt) -> bool:
    """Whether it can be a node: there is code, and a verdict that says something of it."""
    return attempt["kernel"] is not None and attempt["verdict"] not in ("task_invalid", "unsupported")


def leaders(tree: Tree, count: int) -> list[Attempt]:
    """The best passing attempts, best first."""
    return ordered(node["attempt"] for node in tree.values() if passes(node))[:count]


def exploration(epsilon: float, decay: float, round: int, stale: int) -> float:
    """The chance of leaving the best node in `round` (from 1): falls with rounds, and rises again with rounds without a gain."""
    return epsilon * decay ** max(0, round - 1 - REGAIN * stale)


def worth(tree: Tree, node: Node, taken: int = 0) -> float:
    """What greed goes by: the speed that a node has, or would have had its plan worked, discounted for what came of it so far."""
    if passes(node):
        return (pace(node["attempt"]) or 0.0) * DISCOUNT ** (node["fruitless"] + taken)
    base = tree.get(node["base"] or "")
    return (pace(base["attempt"]) or 0.0) * DISCOUNT ** node["repairs"] if base else 0.0


def select(tree: Tree, width: int, epsilon: float, rng: random.Random) -> list[str]:
    """The nodes of a round's branches, at most `width`. A passing one may be taken several times, at a discount; a failing one once."""
    taken: Counter[str] = Counter()
    for _ in range(width):
        choices = [key for key in sorted(tree) if passes(tree[key]) or not taken[key]]
        if not choices:
            break
        best = max(choices, key=lambda key: worth(tree, tree[key], taken[key]))
        others = [key for key in choices if key != best]
        taken[rng.choice(others) if rng.random() < epsilon and others else best] += 1
    return list(taken.elements())


def planted(tree: Tree, attempt: Attempt, base: str | None = None, family: str = "", repairs: int = 0) -> Tree:
    """The tree with one more node, if the attempt can be one and its kernel is new."""
    if not usable(attempt) or attempt["kernel"] in {node["attempt"]["kernel"] for node in tree.values()}:
        return tree
    speed = pace(attempt) if attempt["verdict"] == "pass" else None
    made = Node(attempt=attempt, base=base, family=family, repairs=repairs, visits=0, best=speed, fruitless=0, tried={})
    return {**tree, attempt["id"]: made}


def developed(tree: Tree, key: str, attempt: Attempt, family: str) -> Tree:
    """After an attempt that was planned on the node `key`; of no family where there came no plan of it."""
    return planted(told(tree, key, attempt, family), attempt, key, family)


def mended(tree: Tree, key: str, attempt: Attempt, limit: int) -> Tree:
    """After a repair of the failing node `key`: the repaired module takes its place, unless it is the `limit`-th in vain."""
    node = tree[key]
    rest = {other: kept for other, kept in tree.items() if other != key}
    if attempt["verdict"] == "pass":
        after = told(rest, node["base"], attempt, node["family"], repair=True)
        return planted(after, attempt, node["base"], node["family"])
    repairs, rest = node["repairs"] + 1, counted(rest, node["base"], None)
    if repairs >= limit or attempt["declined"]:
        return rest
    after = planted(rest, attempt, node["base"], node["family"], repairs)
    return after if attempt["kernel"] is not None else {**rest, key: {**node, "repairs": repairs}}


def told(tree: Tree, key: str | None, attempt: Attempt, family: str, repair: bool = False) -> Tree:
    """What an attempt tells the node that it was planned on, and that node's ancestors. `repair`: of what was planned, not a new plan."""
    node = tree.get(key or "")
    if node is None or key is None:
        return tree
    speed = pace(attempt) if attempt["verdict"] == "pass" else None
    gained = speed is not None and speed > (node["best"] or 0.0)
    tried = {name: said for name, said in node["tried"].items() if name != family}
    if family and not gained:
        what = node["tried"].get(family, "").rpartition(" (")[0] if repair else ""
        tried[family] = outcome(node, attempt, what or attempt["strategy"][:MAX_OUTCOME])
    return counted({**tree, key: {**node, "fruitless": 0 if gained else node["fruitless"] + 1, "tried": tried}}, key, speed)


def outcome(node: Node, attempt: Attempt, what: str) -> str:
    """What came of a plan, in words."""
    before, after = pace(node["attempt"]), pace(attempt)
    if attempt["verdict"] != "pass" or before is None or after is None:
        return f"{what} ({attempt['verdict']})"
    return f"{what} ({before:.2f}x before, {after:.2f}x after)"


def counted(tree: Tree, key: str | None, speed: float | None) -> Tree:
    """One more visit, and perhaps a better best, for `key` and its ancestors."""
    made = dict(tree)
    while key is not None and key in made:
        node = made[key]
        best = max((s for s in (node["best"], speed) if s is not None), default=None)
        made[key] = {**node, "visits": node["visits"] + 1, "best": best}
        key = node["base"]
    return made


def pruned(tree: Tree, capacity: int) -> Tree:
    """The nodes that are worth most, the best passing one always among them."""
    first = {attempt["id"]: math.inf for attempt in leaders(tree, 1)}
    kept = sorted(sorted(tree, reverse=True), key=lambda key: first.get(key, worth(tree, tree[key])), reverse=True)[:capacity]
    return {key: {**tree[key], "base": tree[key]["base"] if tree[key]["base"] in kept else None} for key in sorted(kept)}


def deal(chosen: Sequence[str], number: int) -> tuple[int, int]:
    """Of the branches that go on from the same node: which one branch `number` is, and how many there are."""
    return list(chosen[:number]).count(chosen[number]), list(chosen).count(chosen[number])
