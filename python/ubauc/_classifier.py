"""`UBAUCClassifier`: its parameters and what they mean."""

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from ._weighted import WeightedAUCClassifier


class UBAUCClassifier(WeightedAUCClassifier):
    """Linear scorer of high AUC, by the univariate bound of AUC risk.

    The batch solver finds the minimum of a convex objective and certifies it: ``gap_`` bounds how
    far it can be from the optimum. The objective is one of a family that has the paper's hinge,
    logistic regression and ridge regression at its corners; which one is best for the data is
    chosen by cross-validated AUC unless it is given. The online solver minimises the same, one
    example at a time, and has `partial_fit`. Neither compares pairs of examples. More than two
    classes are learned one against one, or by a scorer for each (`multi_class`).

    Parameters
    ----------
    solver : {"batch", "online"}, default="batch"
        Newton steps to a certified minimum, or passes of one step an example.
    features : {"linear", "additive", "pairs", "auto"}, default="linear"
        What the score is a sum of. "linear": a weight for each number, and one for each level of a
        category. "additive": besides these, a table for each number, of bins of several widths.
        "pairs": besides all of these, tables of the pairs of columns that gain most, about one or
        three for each column. "auto" chooses among the three by cross-validated AUC, the simpler
        one within a standard error. All but "linear" need the batch solver and dense rows; without
        these, and for numbers that are mostly 0 or have more than 2,000 columns, "auto" is
        "linear".
    interactions : int, float, str or list of pairs, default=None
        Which pairs of columns get a table, where `features` is "pairs" or "auto", as in EBM: so
        many, those that gain most (10); a share of the number of columns, rounded up (0.5), or a
        multiple of it ("3x"); or these pairs, by name or position
        (``[("age", "hours"), (0, 3)]``). None chooses between about one and about three for each
        column.
    categorical_features : array-like of {bool, int, str}, "from_dtype" or None, \
default="from_dtype"
        The columns that are categories, as in
        :class:`~sklearn.ensemble.HistGradientBoostingClassifier`: a mask, indices or names; all
        others are then numbers or times. "from_dtype" takes the columns of a frame that are
        categories, strings or booleans, and none of an array; None takes none.
    monotonic_cst : array-like of int or dict, default=None
        The score must not fall (1) or not rise (-1) with a column of numbers or times, whatever the
        others are, as in :class:`~sklearn.ensemble.HistGradientBoostingClassifier`: one of 1, 0 and
        -1 for each column, or a dict of these by name. It holds for every value, seen or not, and
        with any `features`; the gap is certified as it is without constraints. Needs
        solver="batch", two classes and a `softness` above 0.
    beta : float or "auto", default="auto"
        Weight of the least squares, at least 0, and above 0 where the softness is 0. "auto" chooses
        `beta` and what else is "auto" by cross-validated AUC, as the command line does, which takes
        a hundred fits or so; with fewer than 10 examples of a class, and for the online solver,
        nothing is chosen, and it is 0.5.
    gamma : float or "auto", default="auto"
        Weight of half the squared norm of the coefficients, at least 0. "auto" as for `beta`; 1e-4
        where nothing is chosen.
    softness : float or "auto", default="auto"
        Softness of the bound, at least 0: 0 is the paper's hinge, and with `beta=0` and a softness
        of 1 it is logistic regression, with ``C = 1 / (n_samples * gamma)``. "auto" is 0 where
        `beta` or `least_squares` is given or nothing is chosen, as for the online solver, and
        chosen with `beta` elsewhere.
    least_squares : {"auto", "plain", "balanced"}, default="auto"
        All examples alike in the least squares, or each class with half of the weight. "auto"
        chooses it with the hinge, and is "plain" elsewhere.
    fit_intercept : bool, default=True
        An intercept in the least squares, not penalised: adding a constant to a feature then does
        not change the ranking. False is the paper's Eq. (8).
    scale : {"auto", "none", "maxabs", "standard"}, default="auto"
        Divide features by their largest absolute value, with `fit_intercept` by their largest
        distance from the mean, or by their standard deviation while learning; `coef_` is for
        features as they are, and sparse data stay sparse. "auto" is "none" for the batch solver if
        `beta` and `gamma` are both given, else "standard" for dense and "maxabs" for sparse
        features; "maxabs" for the online solver. `partial_fit` divides by the largest value so far,
        and refuses "standard".
    tol : float, default=None
        Batch: the relative gap to certify, 1e-6 if None. Online: stop when a pass changes the
        objective by less than this share, 1e-7 if None.
    max_iter : int, default=None
        Newton steps (1000 if None) or passes (50 if None) at most.
    class_weight : dict, "balanced", float or "auto", default=None
        Weights of the classes, which multiply `sample_weight`. "balanced" gives each class half of
        the weight, in the bound and in the least squares, which often pays on imbalanced data.
        A number gives all negatives together that many times the weight of all positives, 1 being
        "balanced"; the larger it is, the further to the left of the ROC curve is the threshold of
        the bound. "auto" chooses between "balanced" and None with `beta`, and among numbers, too,
        where the criterion is a partial AUC, unless that leaves the hinge only; it is None where
        nothing is chosen. In a stream it counts the examples so far.
    multi_class : {"ovo", "hand-till", "ovr"}, default="ovo"
        Of more than two classes: "ovo" learns a scorer for each pair, one against one. "hand-till"
        learns one for each class, against the rest, whose classes count alike whatever their sizes:
        what it maximises is `score`, Hand and Till's mean of AUCs over pairs of classes, with one
        choice of the parameters for all classes; that is what ``ubauc train`` does. "ovr" is one
        against the rest, whose classes count by their examples. The last two are for linear
        features, without `groups`, `calibrate` and `partial_fit`. Of two classes nothing changes.
    criterion : str, default="auc"
        What is maximised where parameters are chosen: "auc"; "partial-auc:F", with false positive
        rates up to F, such as "partial-auc:0.05"; or "average-precision".
    time_limit : float, default=None
        Begin no more fits of the choice after this many seconds, and take the best so far.
    calibrate : {"sigmoid", "isotonic"}, default=None
        Learn probabilities on five held-out folds, for `predict_proba`. Both keep the order of the
        scores: the isotonic step function is mixed with one part in a thousand of the sigmoid, so
        that different scores never have the same probability.
    importance_intervals : bool, default=False
        Learn the weights again without each of ten parts of the examples (groups whole), as the
        command line does for model files, so that every importance in `effects_` has a 95 %
        interval: what other examples of the same kind would change, with the same columns, pairs,
        loss and γ. For the batch solver, a softness above 0, and ten examples of each class or
        more; elsewhere there are none.
    step : {"implicit", "sgd"}, default="implicit"
        Online: the implicit step cannot diverge; "sgd" is the paper's.
    schedule : {"sqrt", "inverse", "constant"}, default="sqrt"
        Online: how steps become smaller, ``eta0 / sqrt(t)``, ``eta0 / t`` or not at all.
    eta0 : float or "auto", default="auto"
        Online: the first step; "auto" finds it by trial on at most 1,000 examples. In a stream
        these are the first of the first batch that has both classes.
    radius : float, default=None
        Online: keep the norm of the coefficients, for scaled features, within this.
    average_from : int, default=2
        Online: average the coefficients from this pass on, the first being 1; None for the last
        ones. A stream averages from its second example on.
    half_life : float, default=None
        Online, `partial_fit` alone: an example counts half as much after so many later ones, at
        least 1, in the coefficients, the class counts and the scale, so that a stream that changes
        is followed. None forgets nothing. `fit` takes all examples alike, and its models are
        saved without it.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the order of passes. An int is the command line's ``--seed``.
    n_jobs : int, default=None
        Threads. None is 1 unless in a :obj:`joblib.parallel_config` context, -1 one for each core.
        The answer does not depend on it, to the last bit.
    verbose : int, default=0
        Above 0, print every step or pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, ascending; of two the second is positive.
    coef_ : ndarray of shape (n_pairs, n_features_out)
        Weights of the features that `get_feature_names_out` names; one row for two classes,
        otherwise a row for each pair (0, 1), (0, 2), …, (1, 2), … of classes; of each class where
        `multi_class` is "hand-till" or "ovr", as in all attributes below. The features of rows
        of complete numbers are these numbers. Those of a table are numbers less their mean, divided
        by their standard deviation, and cells that a row is in or not.
    is_categorical_ : ndarray of shape (n_features_in_,) or None
        Which columns of a table are categories; None where the features are the columns.
    threshold_ : ndarray of shape (n_pairs,)
        λ: ``X @ coef_.T`` at or above it is positive.
    intercept_ : ndarray of shape (n_pairs,)
        ``-threshold_``, so that `decision_function` is ``X @ coef_.T + intercept_``.
    offset_ : ndarray of shape (n_pairs,)
        The intercept of the least squares, 0 without `fit_intercept`; no part of the decision.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if `X` has names that are all strings.
    n_iter_ : int or ndarray of shape (n_pairs,)
        Newton steps or passes.
    objective_ : float or ndarray of shape (n_pairs,)
        The minimum found, in mean form. NaN after `partial_fit`.
    dual_objective_ : float or ndarray of shape (n_pairs,)
        A lower bound of all values of the objective; NaN where nothing is certified.
    gap_ : float or ndarray of shape (n_pairs,)
        ``(objective_ - dual_objective_) / abs(objective_)``; NaN where nothing is certified.
    n_tied_ : int or ndarray of shape (n_pairs,)
        Training examples tied at the threshold; many of them are a collapse. -1 where the softness
        is above 0, which ties none.
    trace_ : dict of ndarray, or list of such
        Every step or pass: "step", "objective", and "gap" and "active" or "auc".
    beta_, gamma_, softness_ : float or ndarray of shape (n_pairs,)
        As used.
    least_squares_, class_weight_ : str or None, or list of such
        As used; `class_weight_` is None, "balanced" or a number.
    features_ : str, or list of such
        "linear", "additive" or "pairs": what was chosen or given.
    effects_ : Effects, or list of such
        What the model says of each column and pair: a sequence of terms, each with "name", "kind",
        "importance" (its standard deviation over the training rows), "interval" (of that, 95 %,
        with `importance_intervals`), "gain" (of a pair, what chose it), "slope", "mean" and
        "deviation" of the linear part, and "cells" with the training rows in them and the value
        that they add; ``effects_["age"].to_frame()`` and
        ``effects_.to_frame()`` are pandas frames. ``effects_.intercept`` is the mean of
        `decision_function` over the training rows; EBM calls it ``intercept_``, which here belongs
        to `coef_`.
    term_names_, term_scores_, bin_weights_ : list
        Names of the terms, values of their cells, and training rows in these. Unlike EBM's, cells
        are in the order of ``effects_[k].cells``, where missing and rare ones are marked, without
        the linear part of a number.
    tuning_ : dict or None, or list of such
        What "auto" tried and chose: "points", each with its parameters, its mean "auc" (or other
        criterion) over the folds, the "standard_error" of that, the "fold_aucs", and whether it has
        "collapsed" or was "stopped" before all folds; the indices of the "chosen" one and of the
        best "logistic" regression; "verdict", which compares these two on examples that neither has
        seen, unless the choice "is_logistic" itself; "is_worse_than_logistic"; and "cut_short",
        whether the time limit was reached. Where `features` are chosen there are also "maps", with
        the best point of each that was tried, on as many "folds" as it was not behind, and
        "left_out", those that were not tried because the table is wide.
    t_ : int
        After `partial_fit`: examples learned so far.

    Notes
    -----
    With y = ±1 and scores c = w·x the objective, Eq. (8) of [1]_ in mean form where κ = 0, is

    .. code-block:: text

        1/N Σ { φ(y(λ − c)) + β/2 v (1 − yc)² } + γ/2 ‖w‖²,   v = 1 or N/(2 N_y)
        φ(t) = max(0, t) for the softness κ = 0, else κ ln(1 + exp(t/κ))

    and sample and class weights multiply the terms of their examples. N is the sum of the weights.
    With β = 0 the intercept is −λ, and not penalised, whatever `fit_intercept` says.

    `score` is AUC and not accuracy: the scorer is made to rank, and with a rare class a model
    that never predicts it has a high accuracy. Of many classes it is the mean over pairs of Hand
    and Till.

    C-ordered float64 arrays and CSR matrices with int32 indices are not copied, unless `fit` finds
    that the other way to store them takes less memory: then it uses that, as the command line does,
    and dense and sparse input give the same bits.

    References
    ----------
    .. [1] S. Lyu and Y. Ying, "A Univariate Bound of Area Under ROC", UAI 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from ubauc import UBAUCClassifier
    >>> X, y = make_classification(n_samples=500, weights=[0.9], random_state=0)
    >>> clf = UBAUCClassifier(beta=0.5, gamma=1e-4).fit(X, y)
    >>> round(clf.score(X, y), 3)
    0.907
    >>> bool(clf.gap_ <= 1e-6)
    True
    """

    _parameter_constraints = {
        "solver": [StrOptions({"batch", "online"})],
        "features": [StrOptions({"linear", "additive", "pairs", "auto"})],
        # What it may be is said where it is read.
        "interactions": "no_validation",
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "monotonic_cst": ["array-like", dict, None],
        "beta": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "gamma": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "softness": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "least_squares": [StrOptions({"auto", "plain", "balanced"})],
        "fit_intercept": ["boolean"],
        "scale": [StrOptions({"auto", "none", "maxabs", "standard"})],
        "tol": [None, Interval(Real, 0, 1, closed="left")],
        "max_iter": [None, Interval(Integral, 1, None, closed="left")],
        "class_weight": [
            StrOptions({"balanced", "auto"}),
            Interval(Real, 0, None, closed="neither"),
            dict,
            None,
        ],
        "multi_class": [StrOptions({"ovo", "hand-till", "ovr"})],
        "criterion": [str],
        "time_limit": [None, Interval(Real, 0, None, closed="neither")],
        "calibrate": [StrOptions({"sigmoid", "isotonic"}), None],
        "importance_intervals": ["boolean"],
        "step": [StrOptions({"implicit", "sgd"})],
        "schedule": [StrOptions({"sqrt", "inverse", "constant"})],
        "eta0": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "radius": [None, Interval(Real, 0, None, closed="neither")],
        "average_from": [None, Interval(Integral, 1, None, closed="left")],
        "half_life": [None, Interval(Real, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        solver="batch",
        features="linear",
        interactions=None,
        categorical_features="from_dtype",
        monotonic_cst=None,
        beta="auto",
        gamma="auto",
        softness="auto",
        least_squares="auto",
        fit_intercept=True,
        scale="auto",
        tol=None,
        max_iter=None,
        class_weight=None,
        multi_class="ovo",
        criterion="auc",
        time_limit=None,
        calibrate=None,
        importance_intervals=False,
        step="implicit",
        schedule="sqrt",
        eta0="auto",
        radius=None,
        average_from=2,
        half_life=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.solver = solver
        self.features = features
        self.interactions = interactions
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.beta = beta
        self.gamma = gamma
        self.softness = softness
        self.least_squares = least_squares
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.criterion = criterion
        self.time_limit = time_limit
        self.calibrate = calibrate
        self.importance_intervals = importance_intervals
        self.step = step
        self.schedule = schedule
        self.eta0 = eta0
        self.radius = radius
        self.average_from = average_from
        self.half_life = half_life
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
