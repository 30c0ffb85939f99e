"""What went wrong on a card, in a line."""


def fault(error: BaseException, length: int = 400) -> str:
    """Kind and words of an error. Where it came while another was on its way, that one first: a capture that cannot be
    ended says nothing of why."""
    first = error
    while first.__context__ is not None and not first.__suppress_context__:
        first = first.__context__
    lines = [f"{type(e).__name__}: {' '.join(str(e).split())}"[:length] for e in dict.fromkeys((first, error))]
    return ", then ".join(lines)
