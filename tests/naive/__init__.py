"""Slow twins: reference implementations in plain loops and dictionaries, to compare with the paper.

The modules import nothing from Standout, so that a mistake there cannot hide here. Read `release`,
`similarity` and `attack` first: the others build on them. Tests use them as `naive.sigma(scores)`.
"""

from naive.attack import *  # noqa: F403
from naive.bits import *  # noqa: F403
from naive.claims import *  # noqa: F403
from naive.draws import *  # noqa: F403
from naive.grids import *  # noqa: F403
from naive.ladder import *  # noqa: F403
from naive.likelihood import *  # noqa: F403
from naive.linking import *  # noqa: F403
from naive.netflix_statistics import *  # noqa: F403
from naive.outcomes import *  # noqa: F403
from naive.places import *  # noqa: F403
from naive.reading import *  # noqa: F403
from naive.release import *  # noqa: F403
from naive.sample_size import *  # noqa: F403
from naive.sanitizing import *  # noqa: F403
from naive.similarity import *  # noqa: F403
from naive.sparsity import *  # noqa: F403
from naive.suggestions import *  # noqa: F403
from naive.table_risk import *  # noqa: F403
from naive.theory import *  # noqa: F403
from naive.utility import *  # noqa: F403
