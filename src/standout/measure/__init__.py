"""Measures of a release that need no attack: classes of equal rows, sparsity, unicity, and the theorems' bounds."""
