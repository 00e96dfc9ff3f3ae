"""Planning under risk when the goal is not a sum of rewards.

Bring a Markov decision process, an objective f(d) of how often state-action pairs are visited, and an attitude to risk. gumdp
plans, solves exactly and plays the behaviour that minimises the risk of f. Lower is better everywhere.

==========  ==================================================================================================
models      Model, Model.builder(), Model.from_gymnasium(env), from_env(env), from_simulator(simulator), from_file(path)
objectives  Linear, Entropy, Imitation, Coverage, MultiObjective, Expression, any function f(d); 0.5 * a + b
risks       Erm, Cvar, Evar, MeanCvar, Mean(), Worst(); a number is a β
problems    Problem(model, objective, discount=..., horizon=...), Problem.from_gymnasium(env, ...), tasks["rooms"]
planning    Planner(problem, risk): act, observe, reset
playing     evaluate and compare give Samples: of planners, solutions, functions, arrays and names of policies
exact       solve gives a Solution, load_policy a saved one, exact_distribution a Distribution, bound a LowerBound
trials      solve(..., trials=inf) and evaluate(..., trials=K): f of the average occupancy of several episodes
choices     frontier gives a Frontier over attitudes to risk, explain an Explanation: a decision tree
sweeps      sweep(spec, out, executor=...) gives a Sweep: many cells, on one machine or many
simulators  SimulatedProblem(simulator, f, ...), SimulatedProblem.from_gymnasium(env, f, ...), SimulatorPlanner(problem, risk)
Gymnasium   gumdp.gymnasium.OccupancyEnv(problem): problems as environments
==========  ==================================================================================================

>>> import numpy as np, gumdp
>>> stay, move = np.eye(3), np.array([[0, 1, 0], [0, 0, 1], [0.9, 0, 0.1]])
>>> model = gumdp.Model([stay, move], actions=["stay", "move"])
>>> problem = gumdp.Problem(model, gumdp.Entropy(), discount=1.0, horizon=9)
>>> gumdp.solve(problem, gumdp.Erm(5)).value < -1.09
True
>>> gumdp.Planner(problem, gumdp.Erm(5)).act("s0").action_name in ("stay", "move")
True

States and actions are numbers or names, everywhere.
"""

from . import objectives, risks
from ._native import TooLarge, __version__
from .builder import ModelBuilder
from .environments import Environment, EnvironmentState
from .evaluation import Distribution, Samples, TrialsMean, compare, evaluate, exact_distribution
from .explaining import Explanation, Folded, NextBest, Node, explain
from .expressions import Expression
from .frontiers import Bargain, Change, Frontier, Sampled, frontier
from .functions import Function
from .model import Model
from .objectives import *  # noqa: F403
from .planning import Agent, Decision, Planner
from .problem import Problem, tasks
from .risks import *  # noqa: F403
from .simulators import SimulatedDecision, SimulatedProblem, Simulator, SimulatorPlanner
from .solving import InfiniteTrials, LowerBound, SavedPolicy, Solution, bound, load_policy, solve
from .sweeps import Executor, RayExecutor, Sweep, SweepFailed, sweep
from .tabulating import Estimate

__all__ = [
    "Agent",
    "Bargain",
    "Change",
    "Decision",
    "Distribution",
    "Environment",
    "EnvironmentState",
    "Estimate",
    "Executor",
    "Explanation",
    "Expression",
    "Folded",
    "Frontier",
    "Function",
    "InfiniteTrials",
    "LowerBound",
    "Model",
    "ModelBuilder",
    "NextBest",
    "Node",
    "Planner",
    "Problem",
    "RayExecutor",
    "Sampled",
    "Samples",
    "SavedPolicy",
    "SimulatedDecision",
    "SimulatedProblem",
    "Simulator",
    "SimulatorPlanner",
    "Solution",
    "Sweep",
    "SweepFailed",
    "TooLarge",
    "TrialsMean",
    "__version__",
    "bound",
    "compare",
    "evaluate",
    "exact_distribution",
    "explain",
    "frontier",
    "load_policy",
    "solve",
    "sweep",
    "tasks",
]
__all__ += objectives.__all__ + risks.__all__
