"""In-block mixing of a preview: one softmax per value head over the block's slots and one history slot.

block_mix(q, k, v, state, logit_scale, history_bias, history_c) -> o

q, k [..., B, Hk, Dk]; v [..., B, Hv, Dv]; state [..., Hv, Dk, Dv] fp32, only read; the three controls [Hv].
"""
