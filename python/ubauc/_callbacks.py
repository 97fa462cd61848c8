"""scikit-learn's callbacks, where the installed version has them.

`fit` is the root task. For two classes every Newton step, pass or round is a task below it; for
more every pair of classes is one, and has the steps below it.

A solver reports a step without the model that it has reached. A callback that asks for it (as
`ScoringMonitor` does, and `ProgressBar` does not) is given the fit with that many steps, the same
model to the last bit; k such questions take the time of k fits that end early. There is no model of
a step while there are pairs to come.
"""

import copy
import functools

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:
        """Nothing to support."""

    def with_callbacks(method):
        """The method itself, called as the other one would be."""

        @functools.wraps(method)
        def called(*args, **kwargs):
            return method(*args, **kwargs)

        return called


__all__ = ["CallbackSupportMixin", "StoppedByCallback", "Tasks", "with_callbacks"]


class StoppedByCallback(Exception):  # noqa: N818
    """A callback wants no more steps than `n_iter`."""

    def __init__(self, n_iter):
        self.n_iter = n_iter


class Tasks:
    """The tasks of one fit, reported to the callbacks of the estimator."""

    def __init__(self, estimator, X, y, sample_weight, *, n_problems, max_steps):
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._given = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
        self._estimator = estimator
        self._n_problems = n_problems
        self._max_steps = max_steps
        self._root = None
        if hasattr(estimator, "_init_callback_context"):
            below = max_steps if n_problems == 1 else n_problems
            self._root = estimator._init_callback_context(max_subtasks=below)
            self._root.call_on_fit_task_begin(**self._given)
        self._watched = bool(getattr(estimator, "_skl_callbacks", None))

    def problem(self, solve):
        """`solve(progress)` of one binary problem; progress is None without callbacks."""
        if not self._watched:
            return solve(None)
        context = self._root
        if self._n_problems > 1:
            context = context.subcontext(task_name="pair", max_subtasks=self._max_steps)
            context.call_on_fit_task_begin(**self._given)
        found = solve(functools.partial(_Steps, self, context))
        if self._n_problems > 1:
            context.call_on_fit_task_end(**self._given)
        return found

    def end(self):
        """The fit is done and its attributes are set."""
        if self._root is not None:
            self._root.call_on_fit_task_end(**self._given, reconstruction_attributes={})

    def attributes(self, solve):
        """Those of the estimator as `solve()` leaves it; None where that is one problem of many."""
        if self._n_problems > 1:
            return None
        fitted = copy.copy(self._estimator)
        fitted._set([solve()])
        return {
            name: value
            for name, value in vars(fitted).items()
            if name.endswith("_") or name == "_solutions"
        }


class _Steps:
    """What a solver calls after each step.

    `after(k)` gives the solution of k steps.
    """

    def __init__(self, tasks, context, name, after, printer=None):
        self._tasks = tasks
        self._context = context
        self._name = name
        self._after = after
        self._printer = printer
        # The start is looked at too, and a point where the penalty changes is twice.
        self._last = 0

    def __call__(self, step, objective, measure):
        if self._printer is not None:
            self._printer(step, objective, measure)
        if step == self._last:
            return
        self._last = step
        solve = functools.partial(self._after, step)
        task = self._context.subcontext(task_name=self._name)
        task.call_on_fit_task_begin(**self._tasks._given)
        stop = task.call_on_fit_task_end(
            **self._tasks._given,
            reconstruction_attributes=functools.partial(self._tasks.attributes, solve),
        )
        if stop:
            raise StoppedByCallback(step)
