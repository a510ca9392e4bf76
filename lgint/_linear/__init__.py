"""Linear analysis: systems linearised about motions, steady rotations, and buckling."""
