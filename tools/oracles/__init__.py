"""Standing comparison of public numbers with independent oracles: ``python -m tools.oracles NAME``."""
