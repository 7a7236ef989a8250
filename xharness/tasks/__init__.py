"""The kinds of task: how examples become windows of pieces, and model outputs predictions and files."""
