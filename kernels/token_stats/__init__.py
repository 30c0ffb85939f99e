"""What a decoder needs to know of a row of logits, in one pass over the vocabulary.

token_stats(logits, mask_token_id) -> TokenStats      logits [T, V]; the mask token counts as -inf
"""
