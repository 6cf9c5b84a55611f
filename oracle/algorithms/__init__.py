"""Training algorithms by family: reference, batched sibling, what may be proved of them, and their bounds."""
