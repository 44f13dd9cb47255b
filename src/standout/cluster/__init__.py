"""Workers on other processes and machines: the same computations, the same numbers."""
