"""Records: one immutable JSON file for each (model, task, seed), complete in its provenance."""
