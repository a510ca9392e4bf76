"""Building models: bodies, joints, forces, trees; what they need of each other."""
