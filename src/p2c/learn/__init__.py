"""Rules out of data: FOLD-SE, in the open, as a scikit-learn classifier."""

from p2c.learn.foldse import FoldSE as FoldSE
from p2c.learn.foldse.literals import LearnedLiteral as LearnedLiteral
from p2c.learn.foldse.literals import LearnedRule as LearnedRule
from p2c.learn.foldse.literals import Quality as Quality
from p2c.learn.foldse.literals import Relation as Relation
from p2c.learn.foldse.proof import LiteralProof as LiteralProof
from p2c.learn.foldse.proof import PredictionProof as PredictionProof
from p2c.learn.foldse.proof import RuleProof as RuleProof
