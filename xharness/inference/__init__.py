"""Inference: batches by length under a token budget, and what each kind's model outputs are turned into."""
