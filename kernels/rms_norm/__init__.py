"""RMSNorm in its two forms, one of them also of a sum.

rms_norm(x, weight, eps):           x * rsqrt(mean x^2 + eps) * (1 + weight)          x [..., C], weight [C]
add_rms_norm(x, y, weight, eps):    s = x + y in their dtype, and rms_norm(s, weight, eps)
gated_rms_norm(x, z, weight, eps):  x * rsqrt(mean x^2 + eps) * weight * SiLU(z)      x, z [..., D], weight [D]

All compute in fp32 and return the dtype of x.
"""
