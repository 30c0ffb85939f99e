"""Which experts a token uses, and which experts a block may use.

route(logits, top_k) -> Routing                      every expert allowed
route_coreset(logits, top_k, top_p) -> Routing       every slot limited to its block's coreset

logits [..., T, E]. The coreset is chosen per block (the last two dimensions), never across a batch. top_p: a number, or
an fp32 tensor of one element, which a captured graph reads anew each time.
"""
