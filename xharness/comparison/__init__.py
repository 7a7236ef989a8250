"""Comparing two results on the same test examples: differences with intervals and p-values, and the regression gate."""
