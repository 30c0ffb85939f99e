"""The routed experts' MLPs, each token through its own K experts.

moe_experts(x, experts, weights, gate_up, down) -> out
    out[t] = sum_k weights[t, k] * down[e] (SiLU(gate[e] x[t]) * up[e] x[t])        e = experts[t, k]

x [T, C]; experts [T, K] int64; weights [T, K]; gate_up [E, 2 I, C] (gate rows first); down [E, C, I]; out [T, C].
Weights may be of another dtype than x. One of 0 adds nothing.
"""
