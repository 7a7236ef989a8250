"""Faults that public harnesses had, each as its small input with the right outcome here."""
