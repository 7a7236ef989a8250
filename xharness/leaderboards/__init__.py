"""Leaderboards: from records to tables, and from tables to terminal and markdown."""
