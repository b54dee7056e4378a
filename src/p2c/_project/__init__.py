"""From a stored model and a table, or a table alone, to a problem that answers: one plain function a step.

`open_table` looks at the columns, `assume` says who may change what where nobody has said so, `fit_model` reads or
extracts, `Problem.save` writes the folder; `extract_problem` leaves the model behind, `learn_problem` learns from labels.
The command line and the pages call these.
"""

from p2c._learn.tables.assumptions import Assumption as Assumption
from p2c._learn.tables.assumptions import assume as assume
from p2c._learn.tables.files import Table as Table
from p2c._learn.tables.files import open_table as open_table
from p2c._project.fitting import Fit as Fit
from p2c._project.fitting import FitRequest as FitRequest
from p2c._project.fitting import fit_model as fit_model
from p2c._project.fitting import learn_problem as learn_problem
from p2c._project.fitting import open_stored as open_stored
