"""The block board: what folds events and draws them."""
