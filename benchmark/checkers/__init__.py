"""Right or wrong: small frozen objects that compare a candidate's outputs with the oracle (see `task.Checker`).

All of them look at the type, the shape and the dtype first, so that nothing is ever broadcast or converted, and ask
`all(err <= tol)`, which NaN cannot pass.
"""

from benchmark.checkers.beside import beside
from benchmark.checkers.close import close
from benchmark.checkers.fractional import fractional
from benchmark.checkers.grid import Grid
from benchmark.checkers.indices import nearly_ties, ties
from benchmark.checkers.quantised import quantised
from benchmark.checkers.quotients import quotients
from benchmark.checkers.same import exact
from benchmark.checkers.samples import binomial, uniform
from benchmark.checkers.statistical import dropout, dropout_product
from benchmark.checkers.truncated import truncated

__all__ = [
    "Grid",
    "beside",
    "binomial",
    "close",
    "dropout",
    "dropout_product",
    "exact",
    "fractional",
    "nearly_ties",
    "quantised",
    "quotients",
    "ties",
    "truncated",
    "uniform",
]
