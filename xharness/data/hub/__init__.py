"""Splits from the Hugging Face hub, or from a local copy of its repositories, read through ``datasets``.

Nothing is fetched but from the hub's endpoint (``HF_ENDPOINT``), no repository code runs, and everything is
cached below ``HF_HOME``; with ``HF_HUB_OFFLINE=1`` only the cache is read.
"""

from xharness.data.hub.source import HubDataSource

__all__ = ["HubDataSource"]
