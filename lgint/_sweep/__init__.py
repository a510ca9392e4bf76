"""Sweeps: many runs over parameters, on any executor, written to disk as they go."""
