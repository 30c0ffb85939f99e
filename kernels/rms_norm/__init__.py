"""RMSNorm in its two forms.

rms_norm(x, weight, eps):           x * rsqrt(mean x^2 + eps) * (1 + weight)          x [..., C], weight [C]
gated_rms_norm(x, z, weight, eps):  x * rsqrt(mean x^2 + eps) * weight * SiLU(z)      x, z [..., D], weight [D]

Both compute in fp32 and return the dtype of x.
"""
