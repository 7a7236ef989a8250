"""Data: reading typed examples from files or from the hub, with everything dropped or mended counted."""
