"""Submissions: a run's predictions as the folder that XTREME's organisers take."""
