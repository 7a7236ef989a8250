"""Analyses of models: what they hold and what they know, beside their scores."""
