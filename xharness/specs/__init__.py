"""Specifications: tasks, suites, recipes and languages, read from YAML and validated."""
