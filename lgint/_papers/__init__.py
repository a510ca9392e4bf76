"""Figures and tables of papers, made again and judged: `lgint reproduce`."""
