"""Speed and memory against the peers, in one process: ``python -m benchmarks`` writes ``benchmarks/RESULTS.md``."""
