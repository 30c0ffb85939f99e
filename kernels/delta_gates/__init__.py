"""The two gates of the gated delta rule, from a layer's input.

delta_gates(x, a_weight, b_weight, A_log, dt_bias) -> g, beta
    g[t, h]    = -exp(A_log[h]) softplus(a[t, h] + dt_bias[h])       log of the decay
    beta[t, h] = sigmoid(b[t, h])                                    how much of a token is written
    a = x a_weight^T, b = x b_weight^T

x [..., T, C]; a_weight, b_weight [Hv, C]; A_log, dt_bias [Hv]; g [..., T, Hv] fp32, beta [..., T, Hv] in the dtype of x.
"""
