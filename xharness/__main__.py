"""``python -m xharness``."""

from xharness.cli import main

if __name__ == "__main__":
    main()
