"""Draw ``h4-torques.svg``: torques of the simulated H4, beside figures 5 to 8 of Renaud et al.

Run it in an environment with ``theodolite[plots]``; it writes the picture beside itself.
"""

from pathlib import Path

from theodolite.reproduce.renaud_dynamics import plots

plots(Path(__file__).parent)
