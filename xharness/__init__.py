"""xharness: fine-tune a multilingual encoder on English, score it in up to 40 languages."""

__version__ = "0.1.0"
