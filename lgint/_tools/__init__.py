"""What is built on top: studies, plots, benchmarks, the command line."""
