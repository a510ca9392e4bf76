"""Runs: `integrate`, events, dense output, trajectories."""
