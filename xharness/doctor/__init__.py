"""Doctor: what is installed, where models can run, what can be written, and what is missing."""
