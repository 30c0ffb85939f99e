"""The model: plain modules over the operations of `clover_kernels`."""

from clover_viz.kernel_folder import register

register()
