"""Export: records as files for model cards, the hub and exchange between harnesses. Files only, no network."""
