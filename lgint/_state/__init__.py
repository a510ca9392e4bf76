"""States of systems, and what follows from them."""
