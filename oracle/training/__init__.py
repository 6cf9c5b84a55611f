"""Training algorithms, one file each: a literal reference, and a batched sibling in torch_NAME.py."""
