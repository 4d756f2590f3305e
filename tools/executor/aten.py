"""Kinds of aten operators by name: what of torch is no computation."""

ALLOCATES = frozenset({
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_", "resize_as_",
})  # fmt: skip
"""Memory that nobody has written."""
FILLS = frozenset({
    "zeros", "zeros_like", "new_zeros", "zero_", "zero", "ones", "ones_like", "new_ones", "full", "full_like", "new_full", "fill_",
    "fill", "scalar_tensor", "arange", "eye", "linspace", "tril_indices", "triu_indices", "_efficientzerotensor",
})  # fmt: skip
"""Values that depend on no tensor."""
COPIES = frozenset({"clone", "copy_", "copy", "_to_copy", "contiguous", "_copy_from", "_copy_from_and_resize", "lift", "to"})
"""The same values elsewhere, of another dtype, or in another order."""
METADATA = frozenset({
    "alias", "detach", "detach_", "lift_fresh", "_unsafe_view", "_reshape_alias", "set_", "record_stream", "_local_scalar_dense",
    "is_pinned", "_pin_memory", "pin_memory", "is_same_size", "sym_size", "sym_stride", "sym_numel", "sym_storage_offset",
    "unsqueeze_", "squeeze_", "t_", "transpose_", "as_strided_", "swapaxes_", "unsafe_split", "unsafe_chunk",
    "unsafe_split_with_sizes",
})  # fmt: skip
"""Nothing is touched. Views are not named: torch itself knows them."""
MOVES = frozenset({
    "cat", "stack", "constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d",
    "replication_pad2d", "replication_pad3d", "repeat", "flip", "roll", "rot90", "index", "index_select", "gather", "take",
    "embedding", "index_put_", "index_put", "_unsafe_index", "index_copy_", "index_copy", "scatter_", "scatter", "select_scatter",
    "slice_scatter", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "im2col", "unfold_copy", "split_copy",
    "split_with_sizes_copy", "expand_copy", "permute_copy", "transpose_copy", "masked_select", "nonzero", "block_diag", "_cat",
    "repeat_interleave",
})  # fmt: skip
"""Elements put elsewhere: glue beside a kernel, unless it is what the task asks for."""
FREE = ALLOCATES | FILLS | METADATA
READS = frozenset({"index", "index_select", "gather", "take", "embedding", "_unsafe_index"})
"""Moves out of their first tensor, to where the others say."""
LOOKUP = " lookup"
"""After the name of such a move out of a table that was made of nothing, by values of an argument: a function of these values."""
TOGETHER = " onto one another"
"""After the name of a move that adds up, or otherwise combines, what meets in one place."""
KERNEL = -1
"""In place of an argument's number: a kernel may have written it."""
TRANSFER, ARRIVAL = "to_host", "from_host"
"""Our own names for values that were taken to the host, and for those that were brought from it."""
