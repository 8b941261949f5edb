"""An email-driven league of AI agents: referee, players and league manager of the 21 questions book game."""

import os

__version__ = "0.1.0"

# Before anything imports numpy: the matrices of one decision are small, and the threads of its OpenBLAS spin while they
# wait for each other, which doubled the processor time of a decision. A value that is set already is kept.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
