"""The official list of KernelBench-X (arXiv 2605.04956): names by category, and signatures without annotations.

Where its metadata is broken the working form stands here: the optimisers' functional steps, and the tensors that
index_fill_ and adaptive_avg_pool2d fill and pool."""

from typing import Final

SIGNATURES: Final = {
    "Activation": {
        "combined_activation": "combined_activation(input, weight1, weight2, bias, *, out=None)",
        "gelu": "gelu(input, approximate='none')",
        "gelu_bf16": "gelu_bf16(input, approximate='none')",
        "gelu_fp16": "gelu_fp16(input, approximate='none')",
        "gelu_int8": "gelu_int8(input, approximate='none')",
        "leaky_relu": "leaky_relu(input, negative_slope=0.01, inplace=False)",
        "relu": "relu(input, inplace=False)",
        "selu": "selu(input, inplace=False)",
        "sigmoid": "sigmoid(input, out=None)",
        "tanh": "tanh(input_tensor, out_tensor=None)",
    },
    "Convolution": {
        "conv2d": "conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)",
        "conv_transpose2d": "conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1)",
    },
    "Fusion": {
        "attention": "attention(q, k, v, causal=False, softmax_scale=None, *, out=None)",
        "fused_add_gelu": "fused_add_gelu(input, other, alpha=1, approximate='none', out=None)",
        "fused_add_mean": "fused_add_mean(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None)",
        "fused_add_mul_groupnorm": "fused_add_mul_groupnorm(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None)",
        "fused_avg_pool2d_cosine_similarity": "fused_avg_pool2d_cosine_similarity(x1, x2, kernel_size, stride=None, padding=0, eps=1e-08)",
        "fused_bmm_dropout_gelu": (
            "fused_bmm_dropout_gelu(input1, input2, p=0.5, training=True, inplace=False, approximate='none', *, out=None)"
        ),
        "fused_bmm_rmsnorm_gelu_dropout": (
            "fused_bmm_rmsnorm_gelu_dropout(input1, input2, normalized_shape, dropout_p=0.1, eps=1e-05, training=True, "
            "approximate='none', *, out=None)"
        ),
        "fused_bmm_rmsnorm_gelu_dropout_sub": (
            "fused_bmm_rmsnorm_gelu_dropout_sub(input1, input2, other, normalized_shape, dropout_p=0.5, training=True, "
            "approximate='none', eps=1e-05, *, out=None)"
        ),
        "fused_cholesky_solve": "fused_cholesky_solve(A, b)",
        "fused_conv2d_add": (
            "fused_conv2d_add(input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None)"
        ),
        "fused_cos_avg_pool1d": "fused_cos_avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True)",
        "fused_cos_signbit": "fused_cos_signbit(input)",
        "fused_cosine_embedding_loss_with_normalization": (
            "fused_cosine_embedding_loss_with_normalization(input1, input2, target, margin=0, reduction='mean')"
        ),
        "fused_cross_entropy_log_softmax": (
            "fused_cross_entropy_log_softmax(input, target, dim=1, weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0)"
        ),
        "fused_cross_entropy_softmax_layernorm": (
            "fused_cross_entropy_softmax_layernorm(logits, targets, normalized_shape, weight=None, ignore_index=-100, "
            "reduction='mean', label_smoothing=0.0, eps=1e-05, *, out=None)"
        ),
        "fused_dropout_relu_batch_norm_conv2d": (
            "fused_dropout_relu_batch_norm_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, "
            "p=0.5, training=True, inplace=False)"
        ),
        "fused_dropout_sigmoid_linear": "fused_dropout_sigmoid_linear(input, weight, bias=None, p=0.5, training=True, inplace=False)",
        "fused_elu_linear": "fused_elu_linear(input, weight, bias=None, alpha=1.0, inplace=False)",
        "fused_embedding_add_tanh": (
            "fused_embedding_add_tanh(input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0, "
            "scale_grad_by_freq=False, sparse=False, out=None)"
        ),
        "fused_exp_mean": "fused_exp_mean(input, dim=None, keepdim=False, dtype=None, out=None)",
        "fused_fractional_max_pool2d_with_relu": (
            "fused_fractional_max_pool2d_with_relu(input, kernel_size, output_size=None, output_ratio=None, return_indices=False)"
        ),
        "fused_gather_masked_fill": "fused_gather_masked_fill(input, dim, index, mask, value, *, sparse_grad=False, out=None)",
        "fused_gelu_conv2d": (
            "fused_gelu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate='none', out=None)"
        ),
        "fused_gelu_min": "fused_gelu_min(input, approximate='none', dim=None, keepdim=False, out=None)",
        "fused_gelu_std": "fused_gelu_std(input, dim=None, keepdim=False, correction=1, approximate='none', out=None)",
        "fused_hardshrink_dropout": "fused_hardshrink_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5)",
        "fused_hardsigmoid_batch_norm": (
            "fused_hardsigmoid_batch_norm(x, running_mean, running_var, weight=None, bias=None, training=False, "
            "momentum=0.1, eps=1e-05, inplace=False)"
        ),
        "fused_hstack_div": "fused_hstack_div(tensors, divisor, *, rounding_mode=None, out=None)",
        "fused_index_select_eq": "fused_index_select_eq(input, dim, index, other, *, out=None)",
        "fused_instance_norm_selu_conv2d": (
            "fused_instance_norm_selu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, "
            "num_features=None, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False)"
        ),
        "fused_layer_norm_relu_linear": (
            "fused_layer_norm_relu_linear(input, weight, bias=None, normalized_shape=None, eps=1e-05, elementwise_affine=True)"
        ),
        "fused_leaky_relu_conv2d": (
            "fused_leaky_relu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, "
            "negative_slope=0.01, inplace=False)"
        ),
        "fused_log_softmax_linear": "fused_log_softmax_linear(input, weight, bias=None, dim=-1, dtype=None)",
        "fused_log_tanh": "fused_log_tanh(input, out=None)",
        "fused_lu_solve": "fused_lu_solve(A, b)",
        "fused_masked_select_add_gelu": "fused_masked_select_add_gelu(input, mask, other, *, alpha=1, approximate='none', out=None)",
        "fused_mul_add_logsoftmax_dropout_bmm": (
            "fused_mul_add_logsoftmax_dropout_bmm(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None)"
        ),
        "fused_mul_sub": "fused_mul_sub(input, other_mul, other_sub, alpha=1, out=None)",
        "fused_mv_logsoftmax_dropout": "fused_mv_logsoftmax_dropout(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None)",
        "fused_mv_sigmoid_sub": "fused_mv_sigmoid_sub(input, vec, other, alpha=1, *, out=None)",
        "fused_pairwise_distance_adaptive_avg_pool2d": (
            "fused_pairwise_distance_adaptive_avg_pool2d(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False)"
        ),
        "fused_pairwise_distance_normalize": (
            "fused_pairwise_distance_normalize(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False)"
        ),
        "fused_pixel_shuffle_conv2d": (
            "fused_pixel_shuffle_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2)"
        ),
        "fused_qr_solve": "fused_qr_solve(A, b)",
        "fused_relu_batch_norm_conv2d": (
            "fused_relu_batch_norm_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, "
            "running_mean=None, running_var=None, bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-05, "
            "inplace=False)"
        ),
        "fused_relu_conv2d": "fused_relu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False)",
        "fused_relu_max_pool2d_conv2d": (
            "fused_relu_max_pool2d_conv2d(input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, "
            "conv_groups=1, pool_kernel_size=2, pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, "
            "inplace=False)"
        ),
        "fused_relu_sqrt": "fused_relu_sqrt(input, inplace=False, out=None)",
        "fused_repeat_interleave_log_softmax": (
            "fused_repeat_interleave_log_softmax(input, repeats, dim=None, *, output_size=None, dtype=None, out=None)"
        ),
        "fused_sigmoid_adaptive_avg_pool2d": "fused_sigmoid_adaptive_avg_pool2d(input, output_size)",
        "fused_sigmoid_batch_norm": (
            "fused_sigmoid_batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05)"
        ),
        "fused_silu_layer_norm_conv2d": (
            "fused_silu_layer_norm_conv2d(x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, "
            "conv_dilation=1, conv_groups=1, ln_eps=1e-05)"
        ),
        "fused_softmax_log": "fused_softmax_log(input, dim=-1, dtype=None)",
        "fused_softplus_linear": "fused_softplus_linear(input, weight, bias=None, beta=1, threshold=20)",
        "fused_sub_gelu": "fused_sub_gelu(input, other, alpha=1, approximate='none', out=None)",
        "fused_sum_std": "fused_sum_std(input, dim=None, keepdim=False, dtype=None, correction=1, out=None)",
        "fused_svd_reconstruct": "fused_svd_reconstruct(A)",
        "fused_tanh_linear": "fused_tanh_linear(input, weight, bias=None)",
        "fused_tile_exp": "fused_tile_exp(input, dims, *, out=None)",
        "fused_transformer_block": "fused_transformer_block(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-05, *, out=None)",
    },
    "Index": {
        "expand_where": "expand_where(input, target_sizes, cond, other)",
        "index_fill_": "index_fill_(dim, x, index, value)",
        "index_select": "index_select(input, dim, index)",
        "masked_select": "masked_select(input, mask)",
        "permute_copy": "permute_copy(input, dims)",
        "scatter": "scatter(input, dim, index, src)",
    },
    "LinearAlgebra": {
        "cholesky": "cholesky(A, upper=False, out=None)",
        "cholesky_solve": "cholesky_solve(B, L, upper=False, out=None)",
        "det": "det(A)",
        "determinant_lu": "determinant_lu(A, *, pivot=True, out=None)",
        "determinant_via_qr": "determinant_via_qr(A, *, mode='reduced', out=None)",
        "eig": "eig(A)",
        "invert_matrix_lu": "invert_matrix_lu(A, *, pivot=True, out=None)",
        "ldl_factor": "ldl_factor(A, hermitian=False, out=None)",
        "low_rank_svd_approximation": "low_rank_svd_approximation(A, k, *, full_matrices=True, out=None)",
        "lu": "lu(A, pivot=True, out=None)",
        "matrix_power_eig": "matrix_power_eig(A, k, *, out=None)",
        "pseudoinverse_svd": "pseudoinverse_svd(A, full_matrices=True, rcond=1e-15, out=None)",
        "qr": "qr(A, mode='reduced', out=None)",
        "solve": "solve(A, B)",
        "solve_and_add_scaled_vector": "solve_and_add_scaled_vector(A, b, y, alpha)",
        "solve_symmetric_ldl": "solve_symmetric_ldl(A, b, hermitian=False, out=None)",
        "svd": "svd(A, full_matrices=True)",
    },
    "Loss": {
        "binary_cross_entropy": "binary_cross_entropy(input, target, weight=None, reduction='mean')",
        "cross_entropy": "cross_entropy(input, target, weight=None, ignore_index=-100, reduction='mean')",
        "kl_div": "kl_div(input, target, reduction='batchmean', log_target=False)",
        "mse_loss": "mse_loss(input, target, reduction='mean')",
        "nll_loss": "nll_loss(input, target, weight=None, ignore_index=-100, reduction='mean')",
        "smooth_l1_loss": "smooth_l1_loss(input, target, beta=1.0, reduction='mean')",
    },
    "Math": {
        "abs": "abs(input_tensor, out=None)",
        "add": "add(input, other, alpha=1, out=None)",
        "airy_ai": "airy_ai(input, out=None)",
        "asin": "asin(input_tensor)",
        "bessel_j1": "bessel_j1(input, out=None)",
        "bitwise_and": "bitwise_and(input, other, out=None)",
        "bitwise_and_binomial": "bitwise_and_binomial(input, other, total_count, probs=None, logits=None)",
        "chebyshev_polynomial_t": "chebyshev_polynomial_t(input, n, out=None)",
        "cos": "cos(input_tensor)",
        "digamma": "digamma(input_tensor)",
        "div": "div(input, other, rounding_mode=None, out=None)",
        "erf": "erf(input_tensor)",
        "erfc_sqrt": "erfc_sqrt(input)",
        "exp_sqrt": "exp_sqrt(input, out=None)",
        "fftn": "fftn(input, s=None, dim=None, norm=None, out=None)",
        "floor": "floor(input, out=None)",
        "gammaln": "gammaln(input, out=None)",
        "i0": "i0(input_tensor, out=None)",
        "ifftshift": "ifftshift(input, dim=None)",
        "log": "log(input, out=None)",
        "log1p": "log1p(input, out=None)",
        "logit": "logit(input, eps=None, out=None)",
        "mul": "mul(input, other, out=None)",
        "polygamma": "polygamma(n, input, *, out=None)",
        "pow": "pow(input_tensor, exponent, out=None)",
        "rad2deg_sqrt": "rad2deg_sqrt(input)",
        "reciprocal": "reciprocal(input, out=None)",
        "rsqrt": "rsqrt(input, out=None)",
        "signbit": "signbit(input, out=None)",
        "signbit_bitwise_and": "signbit_bitwise_and(input, other)",
        "softmax": "softmax(input, dim, dtype=None)",
        "sqrt_exp": "sqrt_exp(input, out=None)",
        "sqrt_tanh": "sqrt_tanh(input, out=None)",
        "sub": "sub(input, other, *, alpha=1, out=None)",
        "trunc": "trunc(input, out=None)",
        "zeta": "zeta(input, other, out=None)",
    },
    "MatrixMultiply": {
        "addmm": "addmm(input, mat1, mat2, beta=1, alpha=1, out=None)",
        "matmul": "matmul(tensor1, tensor2)",
        "matmul_bf16": "matmul_bf16(input, other)",
        "matmul_fp16": "matmul_fp16(input, other)",
        "matrix_multiply_and_row_dot": "matrix_multiply_and_row_dot(A, B, alpha, beta, C)",
        "matrix_multiply_symmetric": "matrix_multiply_symmetric(A, B, C, alpha, beta)",
        "matrix_vector_dot": "matrix_vector_dot(A, x, y, alpha, beta)",
        "symmetric_mm_and_abs_sum": "symmetric_mm_and_abs_sum(A, C, alpha, beta)",
        "tensordot_rsqrt": "tensordot_rsqrt(a, b, dims)",
        "tril_mm_and_scale": "tril_mm_and_scale(A, B, alpha, beta)",
    },
    "Normalization": {
        "batch_norm": "batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05)",
        "normalize_pairwise_distance": (
            "normalize_pairwise_distance(x1, x2, p_distance=2.0, eps_distance=1e-06, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12)"
        ),
        "normalized_cosine_similarity": "normalized_cosine_similarity(x1, x2, dim=1, eps_similarity=1e-08, p_norm=2, eps_norm=1e-12)",
        "spectral_norm_eig": "spectral_norm_eig(A, *, out=None)",
        "symmetric_matrix_vector_norm": "symmetric_matrix_vector_norm(A, x, alpha, beta, p=2.0)",
    },
    "Optimizer": {
        "Adam": "Adam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0)",
        "AdamW": "adamw_step(param, grad, exp_avg, exp_avg_sq, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.01)",
        "Lion": "lion_step(param, grad, exp_avg, lr=0.0001, beta1=0.9, beta2=0.99, weight_decay=0.0)",
        "RMSProp": "rmsprop_step(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0.0)",
        "SGD": "sgd_step(param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False)",
    },
    "Pooling": {
        "adaptive_avg_pool2d": "adaptive_avg_pool2d(input, output_size)",
        "avg_pool1d": "avg_pool1d(input, kernel_size, stride=None, padding=0)",
    },
    "Quantization": {
        "attention_w8a8": "attention_w8a8(query, key, value)",
        "bmm_w8a8": "bmm_w8a8(input, mat2)",
        "conv2d_w8a8": "conv2d_w8a8(input, weight, bias=None, stride=1, padding=0)",
        "layernorm_w8a8": "layernorm_w8a8(input, normalized_shape, weight=None, bias=None, eps=1e-05)",
        "linear_w4a16": "linear_w4a16(input, weight, bias=None)",
        "matmul_w8a8": "matmul_w8a8(input, weight)",
    },
    "Random": {
        "logspace": "logspace(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False)",
        "rand": (
            "rand(*size, generator=None, out=None, dtype=None, layout=torch.strided, device=None, requires_grad=False, pin_memory=False)"
        ),
    },
    "Reduce": {
        "argmax": "argmax(input_tensor, dim, keepdim=False)",
        "mean": "mean(input_tensor, dim, keepdim=False, dtype=None, out=None)",
        "min": "min(input_tensor, dim, keepdim=False)",
        "min_gelu": "min_gelu(input, dim=None, keepdim=False, approximate='none', out=None)",
        "std": "std(input, dim=None, correction=1, keepdim=False, out=None)",
        "sum": "sum(input, dim, keepdim=False, dtype=None)",
    },
    "SpatialOps": {
        "grid_sample": "grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=False)",
        "grid_sample_with_affine": (
            "grid_sample_with_affine(input, theta, size, mode='bilinear', padding_mode='zeros', align_corners=False)"
        ),
        "interpolate": "interpolate(input, size=None, scale_factor=None, mode='nearest', align_corners=None)",
    },
}
