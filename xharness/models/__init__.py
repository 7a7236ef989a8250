"""Model adapters: everything that knows a model family. ``adapter`` holds the protocol and the registry."""
