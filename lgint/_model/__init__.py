"""Systems that integrators accept: compiled models, and systems of Python functions."""
