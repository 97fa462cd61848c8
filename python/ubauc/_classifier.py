"""`UBAUCClassifier`: its parameters and what they mean."""

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from ._weighted import WeightedAUCClassifier


class UBAUCClassifier(WeightedAUCClassifier):
    """Linear scorer of high AUC, by the univariate bound of AUC risk.

    The batch solver finds the minimum of a convex objective and certifies it: ``gap_`` bounds how
    far it can be from the optimum. The online solver minimises the same, one example at a time, and
    has `partial_fit`. Neither compares pairs of examples. More than two classes are learned one
    against one.

    Parameters
    ----------
    solver : {"batch", "online"}, default="batch"
        Newton steps to a certified minimum, or passes of one step an example.
    beta : float or "auto", default="auto"
        Weight of the least squares, above 0. "auto" chooses `beta` and what else is "auto" by
        cross-validated AUC, as the command line does, which takes a few hundred fits; with fewer
        than 10 examples of a class, and for the online solver, it is 0.5.
    gamma : float or "auto", default="auto"
        Weight of half the squared norm of the coefficients, at least 0. "auto" as for `beta`; 1e-4
        where nothing is chosen.
    least_squares : {"auto", "plain", "balanced"}, default="auto"
        All examples alike in the least squares, or each class with half of the weight, which often
        pays on imbalanced data. "auto" chooses with `beta` or `gamma`, and is "plain" where nothing
        is chosen.
    fit_intercept : bool, default=True
        An intercept in the least squares, not penalised: adding a constant to a feature then does
        not change the ranking. False is the paper's Eq. (8).
    scale : {"auto", "none", "maxabs", "standard"}, default="auto"
        Divide features by their largest absolute value, with `fit_intercept` by their largest
        distance from the mean, or by their standard deviation while learning; `coef_` is for
        features as they are, and sparse data stay sparse. "auto" is "none" for the batch solver if
        `beta` and `gamma` are both given, else "maxabs". `partial_fit` divides by the largest value
        so far, and refuses "standard".
    tol : float, default=None
        Batch: the relative gap to certify, 1e-6 if None. Online: stop when a pass changes the
        objective by less than this share, 1e-7 if None.
    max_iter : int, default=None
        Newton steps (1000 if None) or passes (50 if None) at most.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply `sample_weight`.
    calibrate : {"sigmoid", "isotonic"}, default=None
        Learn probabilities on five held-out folds, for `predict_proba`. Both keep the order of the
        scores: the isotonic step function is mixed with one part in a thousand of the sigmoid, so
        that no plateau ties what differs.
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
    random_state : int, RandomState instance or None, default=None
        Of the folds and the order of passes. An int is the command line's ``--seed``.
    n_jobs : int, default=None
        Threads. None is 1 unless in a :obj:`joblib.parallel_config` context, -1 one for each core.
        The answer does not depend on it, to the last bit.
    verbose : int, default=0
        Above 0, print every step or pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, ascending; of two the second is positive.
    coef_ : ndarray of shape (n_pairs, n_features)
        Weights; one row for two classes, otherwise a row for each pair (0, 1), (0, 2), …, (1, 2), …
        of classes.
    threshold_ : ndarray of shape (n_pairs,)
        λ: ``X @ coef_.T`` above it is positive.
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
        Training examples tied at the threshold; many of them are a collapse.
    trace_ : dict of ndarray, or list of such
        Every step or pass: "step", "objective", and "gap" and "active" or "auc".
    beta_, gamma_ : float or ndarray of shape (n_pairs,)
        As used.
    least_squares_ : str or list of str
        As used.
    tuning_ : dict or None, or list of such
        What "auto" tried and chose; "verdict" compares the choice with logistic regression on
        examples that neither has seen.
    t_ : int
        After `partial_fit`: examples learned so far.

    Notes
    -----
    With y = ±1 and scores c = w·x the objective, Eq. (8) of [1]_ in mean form, is

    .. code-block:: text

        1/N Σ { max(0, y(λ − c)) + β/2 v (1 − yc)² } + γ/2 ‖w‖²,   v = 1 or N/(2 N_y)

    and sample weights multiply the terms of their examples.

    `score` is AUC and not accuracy: the scorer is made to rank, and accuracy of a rare class is
    high for who never predicts it. Of many classes it is the mean over pairs of Hand and Till.

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
        "beta": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "gamma": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "least_squares": [StrOptions({"auto", "plain", "balanced"})],
        "fit_intercept": ["boolean"],
        "scale": [StrOptions({"auto", "none", "maxabs", "standard"})],
        "tol": [None, Interval(Real, 0, 1, closed="left")],
        "max_iter": [None, Interval(Integral, 1, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "calibrate": [StrOptions({"sigmoid", "isotonic"}), None],
        "step": [StrOptions({"implicit", "sgd"})],
        "schedule": [StrOptions({"sqrt", "inverse", "constant"})],
        "eta0": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "radius": [None, Interval(Real, 0, None, closed="neither")],
        "average_from": [None, Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        solver="batch",
        beta="auto",
        gamma="auto",
        least_squares="auto",
        fit_intercept=True,
        scale="auto",
        tol=None,
        max_iter=None,
        class_weight=None,
        calibrate=None,
        step="implicit",
        schedule="sqrt",
        eta0="auto",
        radius=None,
        average_from=2,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.solver = solver
        self.beta = beta
        self.gamma = gamma
        self.least_squares = least_squares
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.step = step
        self.schedule = schedule
        self.eta0 = eta0
        self.radius = radius
        self.average_from = average_from
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
