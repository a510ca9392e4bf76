"""Cases of other programs, papers and closed forms, with the printed numbers beside ours: `lgint reproduce validation`.

A module holds the cases of one field; `catalogue` lists the modules, `table` prints and writes what came out.
"""
