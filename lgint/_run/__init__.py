"""Running: integrate, events, dense output, trajectories."""
