"""What stands around the products of the expert that every token takes.

swiglu(gate, up) -> SiLU(gate) * up                                          gate, up, result [..., I]
add_shared_expert(x, routed, inner, gate_weight, shared) -> out
    out[t] = x[t] + (routed[t] + sigmoid(inner[t] . gate_weight) * shared[t])

x is what the layer got, [T, C]; inner [T, C] the same, normed; gate_weight [1, C]; routed and shared [T, C] what the
experts made of `inner`; out [T, C].
"""
