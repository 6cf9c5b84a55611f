r"""The gradient of the network (002, Appendix C, (16)) and Lemma 22.

While no unit changes sign f = sqrt(m) W_L D_{L-1} W_{L-1} ... D_1 W_1 x is linear in each layer, so that the derivative
in the entry (j, k) of W_l is f with W_l replaced by the matrix whose only entry is 1 there: that is what the checks
compute, exactly. It is the product of the j-th entry of sqrt(m) W_L D_{L-1} W_{L-1} ... W_{l+1} D_l and the k-th of
h_{l-1}: an outer product, with the transpose on h_{l-1} that (16) lacks. For the last layer it is sqrt(m) h_{L-1}^T,
not h_L^T. The gates D_l are the signs of W_l h_{l-1}; the text has W_l h_l, which has no meaning for l = 1 unless m =
d. The product in the matrix form of f begins at r = l + 1; the text has r = L - 1.

Lemma 22. An outer product has the norm of its factors: |grad_{W_l} f| = sqrt(m) |W_L ... D_l| |h_{l-1}|. A bound of |h|
alone, with which the proof ends, bounds nothing: the factor before it must be bounded, too. Two layers: on the ball
|h_1(W)| <= |h_1(W(0))| + omega |x| as the ReLU does not expand, and |W_2| <= |W_2(0)| + omega, where both start values
have the mean square |x|^2 or 1: then both gradients are O(sqrt(m)).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import sympy

from oracle.core.domain import non_negative, positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled

Formula = Callable[..., Any]
Layers = list[sympy.ImmutableMatrix]


def outputs(layers: Layers, x: sympy.ImmutableMatrix) -> Layers:
    """h_0, ..., h_{L-1}."""
    found = [x]
    for layer in layers[:-1]:
        found.append((layer * found[-1]).applyfunc(lambda value: sympy.Max(0, value)))
    return found


def gate(layer: sympy.ImmutableMatrix, vector: sympy.ImmutableMatrix) -> sympy.ImmutableMatrix:
    """diag(1{(W h)_j > 0})."""
    return sympy.ImmutableMatrix(sympy.diag(*[int(bool(value > 0)) for value in layer * vector]))


def gates(layers: Layers, x: sympy.ImmutableMatrix) -> Layers:
    """D_1, ..., D_{L-1}."""
    return [gate(layer, h) for layer, h in zip(layers[:-1], outputs(layers, x), strict=False)]


def frozen(layers: Layers, opened: Layers, x: sympy.ImmutableMatrix) -> sympy.Expr:
    """sqrt(m) W_L D_{L-1} W_{L-1} ... D_1 W_1 x with these gates."""
    vector = x
    for layer, one in zip(layers[:-1], opened, strict=True):
        vector = one * layer * vector
    return sympy.sqrt(layers[-1].cols) * (layers[-1] * vector)[0]


def derivative(layers: Layers, x: sympy.ImmutableMatrix, number: int) -> sympy.ImmutableMatrix:
    """The derivative of f in W_l, entry by entry: f is linear in it while no unit changes sign."""
    opened = gates(layers, x)

    def entry(j: int, k: int) -> sympy.Expr:
        rows, columns = layers[number - 1].shape
        unit = sympy.ImmutableMatrix(rows, columns, lambda a, b: int((a, b) == (j, k)))
        return frozen([*layers[:number - 1], unit, *layers[number:]], opened, x)

    return sympy.ImmutableMatrix(*layers[number - 1].shape, entry)


def networks(given: Domain) -> Iterator[tuple[Layers, sympy.ImmutableMatrix, dict[str, int]]]:
    """Small networks with whole weights, none of whose units is at 0."""
    draw = random.Random(6)
    for point in led(given, at_most=12, most={"width": 3, "depth": 4, "inputs": 3}, width=2, depth=3, inputs=2):
        m, depth, d = point["width"], point["depth"], point["inputs"]
        sizes = [d, *[m] * (depth - 1), 1]
        for _ in range(50):
            layers = [sympy.ImmutableMatrix(b, a, lambda *_: draw.choice((-2, -1, 1, 2, 3)))
                      for a, b in itertools.pairwise(sizes)]
            x = sympy.ImmutableMatrix(d, 1, lambda *_: draw.choice((-2, -1, 1, 2)))
            before = [layer * h for layer, h in zip(layers[:-1], outputs(layers, x), strict=False)]
            if all(value != 0 for one in before for value in one) and all(any(v > 0 for v in one) for one in before):
                yield layers, x, {"width": m, "depth": depth, "inputs": d}
                break


def told(layers: Layers, x: sympy.ImmutableMatrix) -> dict[str, str]:
    """A network as a witness writes it."""
    return {**{f"W_{i}": str(layer.tolist()) for i, layer in enumerate(layers, 1)}, "x": str(x.tolist())}


def back(layers: Layers, opened: Layers, number: int) -> sympy.ImmutableMatrix:
    """W_L D_{L-1} W_{L-1} ... W_{l+1} D_l, a row."""
    row = layers[-1]
    for one, layer in zip(reversed(opened[number:]), reversed(layers[number:-1]), strict=True):
        row = row * one * layer
    return row * opened[number - 1]


def judge_gradient(says: dict[str, Formula], given: Domain) -> Finding:
    """Whether the two cases of (16), formulas of (row, h_{l-1}) and of (h_{L-1}, h_L), are the derivatives of f."""
    tried = 0
    for layers, x, size in networks(given):
        depth, opened, h = len(layers), gates(layers, x), outputs(layers, x)
        after = (layers[-1] * h[-1]).applyfunc(lambda value: sympy.Max(0, value))
        root = sympy.sqrt(layers[-1].cols)
        tried += 1
        for number in range(1, depth + 1):
            true = derivative(layers, x, number)
            one, other = (back(layers, opened, number), h[number - 1]) if number < depth else (h[-1], after)
            try:
                claimed = root * says["hidden" if number < depth else "last"](one, other)
            except sympy.matrices.exceptions.ShapeError:
                return refuted("the factors have no product", {
                    **size, "layer": number, "first factor": f"{one.cols} x {one.rows}",
                    "second factor": f"{other.rows} x {other.cols}", "derivative": f"{true.rows} x {true.cols}"})
            if claimed.shape != true.shape or not (claimed - true).is_zero_matrix:
                return refuted("another derivative", {
                    **told(layers, x), "layer": number, "derivative": true.tolist(), "claimed": claimed.tolist()})
    return proof(
        sampled("the derivative entry by entry, exactly, for small networks", tried > 0),
        argued("f with the matrix of one 1 at (j, k) for W_l is the j-th entry of the row times the k-th of h_{l-1}"),
        tried=tried,
    )


def judge_gates(says: Formula, given: Domain) -> Finding:
    """Whether diag(1{W_l says(h_{l-1}, h_l) > 0}) W_l h_{l-1} = h_l."""
    tried = 0
    for layers, x, size in networks(given):
        h = outputs(layers, x)
        for number in range(1, len(layers)):
            layer, before, after = layers[number - 1], h[number - 1], h[number]
            chosen = says(before, after)
            tried += 1
            if layer.cols != chosen.rows:
                return refuted("W_l cannot be multiplied to that vector", {
                    **size, "layer": number, "columns of W_l": layer.cols, "entries": chosen.rows})
            if gate(layer, chosen) * layer * before != after:
                return refuted("other units are open", {
                    **told(layers, x), "layer": number, "h_l": after.tolist(),
                    "gates times W_l h": (gate(layer, chosen) * layer * before).tolist()})
    return proof(
        sampled("h_l = D_l W_l h_{l-1}, exactly, for small networks", tried > 0),
        argued("max(0, s) = 1{s > 0} s for every number s"), tried=tried,
    )


def judge_form(says: Formula, given: Domain) -> Finding:
    """Whether f = sqrt(m) W_L (product of D_r W_r from says(l, L) to L - 1) h_l for all hidden l."""
    tried = 0
    for layers, x, _ in networks(given):
        depth, h, opened = len(layers), outputs(layers, x), gates(layers, x)
        true = frozen(layers, opened, x)
        for number in range(1, depth):
            vector, first = h[number], says(number, depth)
            for r in range(int(first), depth):
                vector = opened[r - 1] * layers[r - 1] * vector if layers[r - 1].cols == vector.rows else None
                if vector is None:
                    break
            tried += 1
            value = None if vector is None else sympy.sqrt(layers[-1].cols) * (layers[-1] * vector)[0]
            if value != true:
                return refuted("another number", {
                    **told(layers, x), "layer": number, "product from": first, "to": depth - 1,
                    "claimed": "no product" if value is None else value, "f": true})
    l_, depth_ = sympy.symbols("l L", integer=True, positive=True)
    return proof(
        sampled("f, exactly, for small networks", tried > 0),
        computed("the product begins with the next layer, on symbols", vanishes(says(l_, depth_) - l_ - 1)),
        argued("h_r = D_r W_r h_{r-1}, from l + 1 to L - 1"), tried=tried,
    )


def judge_outer(says: Formula, given: Domain) -> Finding:
    """Whether |grad_{W_l} f|/sqrt(m) is at most says(|h_{l-1}|, |W_L ... D_l|): the norm of an outer product."""
    tried = 0
    for point in led(given, output="1", row="1000"):
        h, row = point["output"], point["row"]
        tried += 1
        if says(h, row) < h * row:
            return refuted("the factor before h may be as long as one likes", {
                "|h_{l-1}|": h, "|W_L ... D_l|": row, "|gradient|/sqrt(m)": h * row, "claimed": says(h, row)})
    u, v = sympy.symbols("u_1:3", real=True), sympy.symbols("v_1:3", real=True)
    square = sum((a * b) ** 2 for a in u for b in v)
    h_, row_ = given.symbol("output"), given.symbol("row")
    return proof(
        computed("the squares of the entries of u v^T sum to |u|^2 |v|^2 (two entries each)",
                 vanishes(sympy.expand(square - (u[0] ** 2 + u[1] ** 2) * (v[0] ** 2 + v[1] ** 2)))),
        computed("their product is at most what is claimed, on symbols", never_negative(says(h_, row_) - h_ * row_)),
        argued("the same for any number of entries: a double sum of products factors"), tried=tried,
    )


def judge_ball(says: Formula, given: Domain) -> Finding:
    """Whether the length of relu(b + beta), |beta| <= omega, is at most says(start length, omega); also that of W_2."""
    tried = 0
    for point in given.points("start", "omega"):
        start, omega = point["start"], point["omega"]
        tried += 1
        if says(start, omega) < max(start + omega, 0):
            return refuted("a layer moved by omega along itself", {
                "|h(W(0))|": start, "omega": omega, "|h(W)|": start + omega, "claimed": says(start, omega)})
    start_, omega_ = given.symbol("start"), given.symbol("omega")
    return proof(
        computed("start + omega is at most what is claimed", never_negative(says(start_, omega_) - start_ - omega_)),
        argued("the triangle inequality; the ReLU brings no two numbers farther apart, |beta x| <= omega |x|, |x| <= "
               "1"),
        tried=tried,
    )


def judge_slope(says: Formula, given: Domain) -> Finding:
    """Whether says(slope at the start, slope at W) is the slope of f = a b in a, at b, of which the start had b_0."""
    tried = 0
    for point in led(given, first="1", now="2"):
        first, now = point["first"], point["now"]
        tried += 1
        true = (5 + 1) * now - 5 * now  # f is linear in a
        if says(first, now) != true:
            return refuted("the slope of the network moves with the weights, that of its linearisation does not", {
                "b at the start": first, "b": now, "slope of f = a b in a": true, "claimed": says(first, now)})
    a, first_, now_ = sympy.Symbol("a", real=True), given.symbol("first"), given.symbol("now")
    return proof(computed("the derivative of a b by a, on symbols", vanishes(
        sympy.diff(a * now_, a) - says(first_, now_))), tried=tried)


_SIZES = (positive_integer("width", "m"), positive_integer("depth", "L").at_least(2), positive_integer("inputs", "d"))
_RIGHT: dict[str, Formula] = {"hidden": lambda row, h: row.T * h.T, "last": lambda h, after: h.T}
_SIZE_ONLY = {"any *": "there are no other networks"}
gradient = Claim(
    id="nonconvex-nn/eq-16", source="002, (16), first case: h_{i,l-1} without its transpose",
    quote=r"\sqrt{m} \cdot [\mathbf{W}_L (\prod_{r=l+1}^{L-1} \mathbf{D}_{i,r} \mathbf{W}_r) \mathbf{D}_{i,l}]^\top "
          r"\mathbf{h}_{i,l-1} & l \in [L-1]",
    whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"\nabla_{W_l} f = \sqrt m\, [W_L(\textstyle\prod D_r W_r) D_l]^\top h_{l-1}",
    words="(16)'s first case, a column times a column, is the derivative in a hidden layer",
    hypotheses=_SIZES, says={"hidden": lambda row, h: row.T * h, "last": lambda h, after: h.T}, check=judge_gradient,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\nabla_{W_l} f = \sqrt m\, [W_L(\textstyle\prod_{r=l+1}^{L-1} D_r W_r) D_l]^\top h_{l-1}^\top,"
                  r"\ \nabla_{W_L} f = \sqrt m\, h_{L-1}^\top",
        words="the gradient is sqrt(m) times the outer product of the row W_L ... D_l with h_{l-1}, and sqrt(m) "
              "h_{L-1}^T",
        says=_RIGHT, expected="HOLDS ARGUED", survivors=_SIZE_ONLY,
        flips=(Flip("the last layer's own output", {**_RIGHT, "last": lambda h, after: after.T}, Verdict.REFUTED),),
    ),
)
gradient_last = Claim(
    id="nonconvex-nn/eq-16-last", source="002, (16), second case: h_{i,l} with l = L",
    quote=r"\sqrt{m} \cdot \mathbf{h}_{i,l}^T & l = L", whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"\nabla_{W_L} f = \sqrt m\, h_L^\top", words="the derivative in the last layer is sqrt(m) h_L^T",
    hypotheses=_SIZES, says={**_RIGHT, "last": lambda h, after: after.T}, check=judge_gradient,
    flips=(Flip("h_{L-1}^T", _RIGHT, Verdict.HOLDS),),
    repaired_by="nonconvex-nn/eq-16-repaired", expected="REFUTED PROVED",
)
gates_printed = Claim(
    id="nonconvex-nn/eq-16-D", source="002, Appendix C: D_{i,l} by the signs of W_l h_{i,l}",
    quote=r"\mathbf{D}_{i,l} = \text{diag}(\mathbb{I}\{(\mathbf{W}_l \mathbf{h}_{i,l})_1 > 0\}, \dots,",
    whose=Whose.TYPO, severity=Stake.EDITORIAL, statement=r"D_l = \mathrm{diag}(1\{W_l h_l > 0\}),\ h_l = D_l W_l "
                                                          r"h_{l-1}",
    words="the gates of layer l are the signs of W_l h_l", hypotheses=_SIZES, says=lambda before, after: after,
    check=judge_gates, expected="REFUTED PROVED",
    repair=Repair(statement=r"D_l = \mathrm{diag}(1\{W_l h_{l-1} > 0\})", words="the gates of layer l are the signs of "
                  "W_l h_{l-1}", says=lambda before, after: before, expected="HOLDS ARGUED",
                  true_variants={"1 % *": "a positive multiple has the same signs"}, survivors=_SIZE_ONLY),
)
form = Claim(
    id="nonconvex-nn/eq-16-form", source="002, Appendix C: the matrix form of f, its product from r = L - 1",
    quote=r"\sqrt{m} \cdot \mathbf{W}_L (\prod_{r=L-1}^{L-1} \mathbf{D}_{i,r} \mathbf{W}_r) \mathbf{h}_{i,l}",
    whose=Whose.TYPO, severity=Stake.EDITORIAL, statement=r"f = \sqrt m\, W_L (\textstyle\prod_{r=L-1}^{L-1} D_r W_r) "
                                                          r"h_l",
    words="in the matrix form of f the product has the one factor r = L - 1", hypotheses=_SIZES,
    says=lambda at, depth: depth - 1, check=judge_form, expected="REFUTED PROVED",
    repair=Repair(statement=r"f = \sqrt m\, W_L (\textstyle\prod_{r=l+1}^{L-1} D_r W_r) h_l",
                  words="in the matrix form of f the product runs from l + 1 to L - 1", says=lambda at, depth: at + 1,
                  expected="HOLDS ARGUED", survivors=_SIZE_ONLY),
)
outer = Claim(
    id="nonconvex-nn/lem-22-backward", source="002, proof of Lemma 22: bounded hidden layers, 'plugging in (16)'",
    quote=r"The above statement tells that the output of arbitrary hidden-layer $\mathbf{h}_{i,l}$ lies in a small "
          r"region, "
          r"therefore plugging in (16) for $\nabla_{\mathbf{w}_i} f(\mathbf{W}; \mathbf{x}_i)$ we can get the desired "
          r"result.",
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"\|h_{l-1}\| \le 3/2 \Rightarrow \|\nabla_{W_l} f\| = "
                                                         r"O(\sqrt m)",
    words="a bound of the hidden layers alone bounds the gradient over sqrt(m)",
    hypotheses=(non_negative("output", "|h_{l-1}|"), non_negative("row", "|W_L ... D_l|")),
    says=lambda h, row: h, check=judge_outer, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\|\nabla_{W_l} f\|_F = \sqrt m\, \|W_L \cdots D_l\| \|h_{l-1}\|",
        words="the gradient over sqrt(m) is at most |h_{l-1}| |W_L ... D_l|, both of which need a bound",
        says=lambda h, row: h * row, expected="HOLDS ARGUED",
        true_variants={"1 % more": "a larger bound"},
        survivors={"any *": "lengths below 0 are none: the points tried are products of them"},
    ),
)
two_layers = Claim(
    id="nonconvex-nn/lem-22-two-layers", source="a finding of ours: 002, Lemma 22 for L = 2, without a probability",
    statement=r"\|\nabla_{W_2} f(W)\| \le \sqrt m (\|h_1^{(0)}\| + \omega),\ \|\nabla_{W_1} f(W)\| \le "
              r"\sqrt m (\|W_2^{(0)}\| + \omega)",
    words="with two layers the gradients on the ball are at most sqrt(m) times their start lengths plus omega",
    severity=Stake.UTILITY, hypotheses=(non_negative("start"), non_negative("omega")),
    says=lambda start, omega: start + omega, check=judge_ball, rests_on=("nonconvex-nn/lem-22-backward-repaired",),
    flips=(Flip("without omega", lambda start, omega: start, Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound"},
    expected="HOLDS ARGUED",
)
of_linearisation = Claim(
    id="nonconvex-nn/lem-22-ntk", source="002, proof of Lemma 22: 'it is sufficient to show that the gradient of "
                                         "f_ntk'",
    quote=r"it is sufficient to show that the gradient of $f_{ntk}(\mathbf{W}, x)$ is bound with high probability.",
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"\nabla f(W) = \nabla f_{ntk}(W)",
    words="a bound of the gradient of f_ntk, that of f at the start, is one of the gradient of f",
    hypotheses=(real("first"), real("now")), says=lambda first, now: first, check=judge_slope,
    expected="REFUTED PROVED",
    repair=Repair(statement=r"\nabla f(W) \text{ itself must be bounded}",
                  words="the gradient of f = a b in a is b at W, wherever the start was", says=lambda first, now: now,
                  expected="HOLDS PROVED"),
)
