"""How clover-tiny is made: its data, its tokenizer, its objective and its loop."""
