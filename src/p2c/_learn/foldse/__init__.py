"""FOLD-SE: short rules with exceptions out of a table, as a scikit-learn classifier."""

from p2c._learn.foldse.estimator import FoldSE as FoldSE
