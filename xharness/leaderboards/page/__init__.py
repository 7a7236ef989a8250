"""The leaderboard page: one HTML file with its data, style and scripts in it."""

from xharness.leaderboards.page.document import render_page

__all__ = ["render_page"]
