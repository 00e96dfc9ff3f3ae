"""Planning under risk when the goal is not a sum of rewards.

Bring a Markov decision process (:class:`Model`), an objective f(d) of how often state-action pairs are visited
(:class:`Linear`, :class:`Entropy`, :class:`Imitation`, :class:`MultiObjective`, :class:`Expression`, or any Python function) and
an attitude to risk (:class:`Erm`, :class:`Cvar`, :class:`Evar`, :class:`MeanCvar`). gumdp plans (:class:`Planner`), solves
exactly (:func:`solve`, :func:`exact_distribution`, :func:`frontier`) and plays (:func:`evaluate`, :func:`compare`) the behaviour
that minimises the risk of f. Lower is better everywhere.

>>> import numpy as np, gumdp
>>> stay, move = np.eye(3), np.array([[0, 1, 0], [0, 0, 1], [0.9, 0, 0.1]])
>>> model = gumdp.Model([stay, move], actions=["stay", "move"])
>>> problem = gumdp.Problem(model, gumdp.Entropy(), discount=1.0, horizon=9)
>>> gumdp.solve(problem, gumdp.Erm(5)).value < -1.09
True
>>> gumdp.Planner(problem, gumdp.Erm(5)).act("s0").action_name in ("stay", "move")
True

States and actions are numbers or names. Built-in tasks are in ``gumdp.tasks``, Gymnasium environments of them in
``gumdp.gymnasium``.
"""

from ._native import TooLarge, __version__
from .builder import ModelBuilder
from .evaluation import Distribution, Samples, compare, evaluate, exact_distribution
from .frontiers import Change, Frontier, frontier
from .model import Model
from .objectives import Entropy, Expression, Function, Imitation, Linear, MultiObjective, Objective
from .planning import Agent, Decision, Planner
from .problem import Problem, tasks
from .risks import Cvar, Erm, Evar, Mean, MeanCvar, Risk, Worst
from .solving import Solution, solve

__all__ = [
    "Agent",
    "Change",
    "Cvar",
    "Decision",
    "Distribution",
    "Entropy",
    "Erm",
    "Evar",
    "Expression",
    "Frontier",
    "Function",
    "Imitation",
    "Linear",
    "Mean",
    "MeanCvar",
    "Model",
    "ModelBuilder",
    "MultiObjective",
    "Objective",
    "Planner",
    "Problem",
    "Risk",
    "Samples",
    "Solution",
    "TooLarge",
    "Worst",
    "__version__",
    "compare",
    "evaluate",
    "exact_distribution",
    "frontier",
    "solve",
    "tasks",
]
