"""The short depthwise convolution of a Gated DeltaNet, followed by SiLU.

causal_conv(x, ring, taps):         out[t] = SiLU(sum_{j=0..3} in[t + j] * taps[:, j])
block_conv(x, ring, taps, right):   out[t] = SiLU(the same + sum_{d=1..3} x[t + d] * right[:, d - 1])

x [..., T, C]; ring [..., 3, C], the last three rows before x (zeros at the start of a text); `in` is ring, then x;
taps [C, 4]; right [C, 3]. Rows past the end of x contribute nothing. Neither changes the ring.
"""
