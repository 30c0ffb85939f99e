"""The gated delta rule (Gated DeltaNet), in fp32.

Per value head and token:  S <- exp(g) S;  u = beta (v - S^T k);  S <- S + k u^T;  o = S^T q
with q, k l2-normalised (x * rsqrt(sum x^2 + 1e-6)) and q scaled by Dk^-1/2.

gated_delta(q, k, v, g, beta, state) -> o, Update(u, k, g)      a short pass (at most one chunk) from a frozen state
gated_delta_advance(state, update, n) -> state                  the state after the first n tokens of that pass
gated_delta_prefill(q, k, v, g, beta, state) -> o, states       any length, in chunks; the state after every chunk

q, k [..., T, Hk, Dk]; v [..., T, Hv, Dv]; g, beta [..., T, Hv]; state [..., Hv, Dk, Dv] fp32.
Value head h reads key head h // (Hv // Hk).
"""
