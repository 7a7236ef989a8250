"""Runs: the plan of what must be done, and the runner that does it stage by stage and can be stopped anywhere."""
