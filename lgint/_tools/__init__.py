"""Tools that are built on runs: studies, comparisons and drifts with their diagrams, benchmarks, the demo."""
