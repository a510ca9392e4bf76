"""The builder: bodies, joints, forces, trees, and redundant joints."""
