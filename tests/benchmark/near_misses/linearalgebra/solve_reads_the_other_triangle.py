"""All of the row enters the dot product: wrong wherever something stands below the diagonal, and where the solution is not yet known.

Task: kernelbench_x/solve_and_add_scaled_vector.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def substitute_kernel(
    matrix, right, other, result, alpha_at, n, columns, matrix_row, matrix_column, right_row, right_column, other_row, other_column,
    block: tl.constexpr,
):  # fmt: skip
    column = tl.program_id(0)
    index = tl.arange(0, block)
    inside = index < n
    given = tl.load(right + index * right_row + column * right_column, mask=inside, other=0.0)
    solution = given
    for step in range(n):
        at = n - 1 - step
        row = tl.load(matrix + at * matrix_row + index * matrix_column, mask=inside, other=0.0)
        known = tl.sum(row * solution, 0)
        diagonal = tl.sum(tl.where(index == at, row, 0.0), 0)
        wanted = tl.sum(tl.where(index == at, given, 0.0), 0)
        solution = tl.where(index == at, (wanted - known) / diagonal, solution)
    added = tl.load(other + index * other_row + column * other_column, mask=inside, other=0.0)
    alpha = tl.load(alpha_at).to(given.dtype)
    tl.store(result + index * columns + column, solution + alpha * added, mask=inside)


def solve_and_add_scaled_vector(A, b, y, alpha):
    n, columns = b.shape
    result = torch.empty((n, columns), dtype=b.dtype, device=b.device)
    # A number that is given to a kernel is an fp32.
    boxed = torch.full((1,), alpha, dtype=b.dtype, device=b.device)
    if result.numel():
        substitute_kernel[(columns,)](
            A, b, y, result, boxed, n, columns, A.stride(0), A.stride(1), b.stride(0), b.stride(1), y.stride(0), y.stride(1),
            block=triton.next_power_of_2(n),
        )  # fmt: skip
    return result
