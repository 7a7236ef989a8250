"""What the benchmarks of speed share: the data, the clocks, and the three ways of doing the same work.

``our_way`` goes through the adapter, as a run does. ``official_way`` works as the official scripts do: features built
example by example in Python, every window padded to the longest allowed, batches in the order of the data, attention
with its scores held in full. ``common_way`` is transformers' Trainer with its padding collators.
"""
