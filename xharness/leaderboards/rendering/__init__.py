"""Tables as text: one module a format."""

from xharness.leaderboards.rendering.markdown import markdown
from xharness.leaderboards.rendering.terminal import terminal

__all__ = ["markdown", "terminal"]
