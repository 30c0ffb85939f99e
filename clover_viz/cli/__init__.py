"""The commands of `python -m clover_viz`; each module has `main(argv) -> exit code`."""
