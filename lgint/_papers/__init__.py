"""Figures and tables of papers, recomputed and compared with the printed results: `lgint reproduce`."""
