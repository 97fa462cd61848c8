"""Baselines, the estimators of other papers: their parameters and what they mean.

All are linear, for two classes or, one against one, for more; none takes sample weights.
"""

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from ._base import each
from ._rival import OnlineRivalClassifier, RivalClassifier

_ABOVE_0 = Interval(Real, 0, None, closed="neither")
_AT_LEAST_1 = Interval(Integral, 1, None, closed="left")

_COMMON = {
    "scale": [StrOptions({"none", "maxabs", "standard"})],
    "max_iter": [_AT_LEAST_1],
    "n_jobs": [None, Integral],
    "verbose": ["verbose"],
}
_ONLINE = {
    **_COMMON,
    "tol": [Interval(Real, 0, 1, closed="left")],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
}


class SOLAMClassifier(OnlineRivalClassifier):
    """SOLAM: the pairwise square loss as a saddle point, one example at a time [1]_.

    Parameters
    ----------
    zeta : float, default=1.0
        The step after t examples is ``zeta / sqrt(t)``.
    radius : float, default=1.0
        The largest norm of the coefficients, for scaled features.
    max_iter : int, default=50
        Passes over the examples, at most.
    tol : float, default=1e-7
        Stop when a pass changes `objective_` by less than this share of itself; 0 for never.
    shuffle : bool, default=True
        A new random order of the examples in each pass; else their own.
    scale : {"none", "maxabs", "standard"}, default="maxabs"
        Divide features by their largest absolute value or their standard deviation while learning;
        `coef_` is for features as they are. Nothing is centred, so sparse data stay sparse.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the examples. An int is the command line's ``--seed``.
    n_jobs : int, default=None
        Threads; the answer does not depend on it. As in `UBAUCClassifier`.
    verbose : int, default=0
        Above 0, print every pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, ascending; of two the second is positive.
    coef_ : ndarray of shape (n_pairs, n_features)
        Weights, a row for each pair of classes.
    threshold_, intercept_ : ndarray of shape (n_pairs,)
        At or above it ``X @ coef_.T`` is positive: of the training data as many as there are
        positives. The intercept is ``-threshold_``.
    n_features_in_, feature_names_in_
        As in every scikit-learn estimator.
    n_iter_ : int or ndarray of shape (n_pairs,)
        Passes made.
    objective_ : float or ndarray of shape (n_pairs,)
        Mean over pairs of ``(1 - difference of scores)**2``.
    trace_ : dict of ndarray, or list of such
        Every pass: "step", "objective" and "auc", on the training data.

    References
    ----------
    .. [1] Y. Ying, L. Wen and S. Lyu, "Stochastic Online AUC Maximization", NIPS 2016.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from ubauc import SOLAMClassifier
    >>> X, y = make_classification(n_samples=500, weights=[0.9], random_state=0)
    >>> clf = SOLAMClassifier(random_state=0).fit(X, y)
    >>> round(clf.score(X, y), 3)
    0.919
    """

    _algorithm = "solam"
    _own_names = {"zeta": "zeta", "radius": "radius"}
    _cure = "a larger zeta may give weights other than 0"
    _parameter_constraints = {**_ONLINE, "zeta": [_ABOVE_0], "radius": [_ABOVE_0]}

    def __init__(
        self,
        *,
        zeta=1.0,
        radius=1.0,
        max_iter=50,
        tol=1e-7,
        shuffle=True,
        scale="maxabs",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.zeta = zeta
        self.radius = radius
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class OPAUCClassifier(OnlineRivalClassifier):
    """OPAUC: the pairwise square loss by gradient steps, from class means and covariances [1]_.

    Parameters
    ----------
    eta : float, default=1/256
        The step.
    lam : float, default=1e-4
        Weight of half the squared norm of the coefficients, at least 0.
    tau : int or "auto", default="auto"
        Rank of a random sketch of each covariance, 0 for the covariances themselves, of which there
        are two and each has ``n_features**2`` numbers. "auto" is 0 up to 1,000 features, then 50.
    max_iter : int, default=1
        Passes over the examples; one, as in its paper.
    tol : float, default=1e-7
        Stop when a pass changes `objective_` by less than this share of itself; 0 for never.
    shuffle : bool, default=True
        A new random order of the examples in each pass; else their own.
    scale : {"none", "maxabs", "standard"}, default="maxabs"
        Divide features by their largest absolute value or their standard deviation while learning;
        `coef_` is for features as they are. Nothing is centred, so sparse data stay sparse.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the examples and of the sketch. An int is the command line's
        ``--seed``.
    n_jobs : int, default=None
        Threads; the answer does not depend on it. As in `UBAUCClassifier`.
    verbose : int, default=0
        Above 0, print every pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, ascending; of two the second is positive.
    coef_ : ndarray of shape (n_pairs, n_features)
        Weights, a row for each pair of classes.
    threshold_, intercept_ : ndarray of shape (n_pairs,)
        At or above it ``X @ coef_.T`` is positive: of the training data as many as there are
        positives. The intercept is ``-threshold_``.
    n_features_in_, feature_names_in_
        As in every scikit-learn estimator.
    n_iter_ : int or ndarray of shape (n_pairs,)
        Passes made.
    objective_ : float or ndarray of shape (n_pairs,)
        Half the mean over pairs of ``(1 - difference of scores)**2``, and the penalty.
    trace_ : dict of ndarray, or list of such
        Every pass: "step", "objective" and "auc", on the training data.

    References
    ----------
    .. [1] W. Gao, R. Jin, S. Zhu and Z.-H. Zhou, "One-Pass AUC Optimization", ICML 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from ubauc import OPAUCClassifier
    >>> X, y = make_classification(n_samples=500, weights=[0.9], random_state=0)
    >>> clf = OPAUCClassifier(random_state=0).fit(X, y)
    >>> round(clf.score(X, y), 3)
    0.888
    """

    _algorithm = "opauc"
    _own_names = {"eta": "eta", "lambda": "lam", "tau": "tau"}
    _cure = "a larger eta or a smaller lam may give weights other than 0"
    _parameter_constraints = {
        **_ONLINE,
        "eta": [_ABOVE_0],
        "lam": [Interval(Real, 0, None, closed="left")],
        "tau": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        eta=1 / 256,
        lam=1e-4,
        tau="auto",
        max_iter=1,
        tol=1e-7,
        shuffle=True,
        scale="maxabs",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.eta = eta
        self.lam = lam
        self.tau = tau
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class OAMClassifier(OnlineRivalClassifier):
    """OAM: the pairwise hinge of each example against a buffer of the other class [1]_.

    Parameters
    ----------
    update : {"sequential", "gradient"}, default="sequential"
        A passive-aggressive step for each example of the buffer (OAMseq), or one gradient step for
        all of them (OAMgra).
    C : float, default=1e-4
        Weight of the pairs: bounds the steps. More passes want a smaller one.
    buffer_size : int, default=100
        Examples kept of each class.
    average : bool, default=False
        The mean of the weights after each example, which some re-implementations report, not the
        last weights as in the paper.
    max_iter : int, default=1
        Passes over the examples; one, as in its paper.
    tol : float, default=1e-7
        Stop when a pass changes `objective_` by less than this share of itself; 0 for never.
    shuffle : bool, default=True
        A new random order of the examples in each pass; else their own.
    scale : {"none", "maxabs", "standard"}, default="maxabs"
        Divide features by their largest absolute value or their standard deviation while learning;
        `coef_` is for features as they are. Nothing is centred, so sparse data stay sparse.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the examples and of the buffers. An int is the command line's
        ``--seed``.
    n_jobs : int, default=None
        Threads; the answer does not depend on it. As in `UBAUCClassifier`.
    verbose : int, default=0
        Above 0, print every pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, ascending; of two the second is positive.
    coef_ : ndarray of shape (n_pairs, n_features)
        Weights, a row for each pair of classes.
    threshold_, intercept_ : ndarray of shape (n_pairs,)
        At or above it ``X @ coef_.T`` is positive: of the training data as many as there are
        positives. The intercept is ``-threshold_``.
    n_features_in_, feature_names_in_
        As in every scikit-learn estimator.
    n_iter_ : int or ndarray of shape (n_pairs,)
        Passes made.
    objective_ : float or ndarray of shape (n_pairs,)
        Mean over pairs of ``max(0, 1 - difference of scores)``.
    trace_ : dict of ndarray, or list of such
        Every pass: "step", "objective" and "auc", on the training data.

    References
    ----------
    .. [1] P. Zhao, S. C. H. Hoi, R. Jin and T. Yang, "Online AUC Maximization", ICML 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from ubauc import OAMClassifier
    >>> X, y = make_classification(n_samples=500, weights=[0.9], random_state=0)
    >>> clf = OAMClassifier(random_state=0).fit(X, y)
    >>> round(clf.score(X, y), 3)
    0.895
    """

    _own_names = {"C": "C", "buffer": "buffer_size", "average": "average"}
    _cure = "a larger C may give weights other than 0"
    _parameter_constraints = {
        **_ONLINE,
        "update": [StrOptions({"sequential", "gradient"})],
        "C": [_ABOVE_0],
        "buffer_size": [_AT_LEAST_1],
        "average": ["boolean"],
    }

    def __init__(
        self,
        *,
        update="sequential",
        C=1e-4,
        buffer_size=100,
        average=False,
        max_iter=1,
        tol=1e-7,
        shuffle=True,
        scale="maxabs",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.update = update
        self.C = C
        self.buffer_size = buffer_size
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _algorithm(self):
        return "oam-gra" if self.update == "gradient" else "oam-seq"

    @classmethod
    def _algorithms(cls):
        return {"oam-seq": {"update": "sequential"}, "oam-gra": {"update": "gradient"}}


class RankSVMClassifier(RivalClassifier):
    """The linear ranking SVM, over all pairs, with a certificate of how near the minimum is [1]_.

    By cutting planes; a round sorts the scores about ten times and never looks at a pair.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the mean hinge over pairs, beside half the squared norm of the coefficients.
    tol : float, default=1e-4
        The relative gap to certify.
    max_iter : int, default=2000
        Rounds at most; a `ConvergenceWarning` tells if they were too few.
    scale : {"none", "maxabs", "standard"}, default="maxabs"
        Divide features by their largest absolute value or their standard deviation while learning;
        `coef_` is for features as they are. Nothing is centred, so sparse data stay sparse.
    n_jobs : int, default=None
        Threads; the answer does not depend on it. As in `UBAUCClassifier`.
    verbose : int, default=0
        Above 0, print every round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, ascending; of two the second is positive.
    coef_ : ndarray of shape (n_pairs, n_features)
        Weights, a row for each pair of classes.
    threshold_, intercept_ : ndarray of shape (n_pairs,)
        At or above it ``X @ coef_.T`` is positive: of the training data as many as there are
        positives. The intercept is ``-threshold_``.
    n_features_in_, feature_names_in_
        As in every scikit-learn estimator.
    n_iter_ : int or ndarray of shape (n_pairs,)
        Rounds made.
    objective_ : float or ndarray of shape (n_pairs,)
        The minimum found: ``norm(w)**2 / 2 + C * (mean hinge)``, of scaled features.
    dual_objective_ : float or ndarray of shape (n_pairs,)
        A lower bound of all values of the objective.
    gap_ : float or ndarray of shape (n_pairs,)
        ``(objective_ - dual_objective_) / objective_``.
    trace_ : dict of ndarray, or list of such
        Every round: "step", "objective", "dual" and "gap".

    References
    ----------
    .. [1] T. Joachims, "A support vector method for multivariate performance measures", ICML 2005.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from ubauc import RankSVMClassifier
    >>> X, y = make_classification(n_samples=500, weights=[0.9], random_state=0)
    >>> clf = RankSVMClassifier().fit(X, y)
    >>> round(clf.score(X, y), 3)
    0.896
    """

    _algorithm = "svm-or"
    _own_names = {"C": "C"}
    _cure = "a larger C may give weights other than 0"
    _parameter_constraints = {**_COMMON, "C": [_ABOVE_0], "tol": [_ABOVE_0]}

    def __init__(
        self,
        *,
        C=1.0,
        tol=1e-4,
        max_iter=2000,
        scale="maxabs",
        n_jobs=None,
        verbose=0,
    ):
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.scale = scale
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _set(self, solutions):
        super()._set(solutions)
        self.dual_objective_ = each([s.dual for s in solutions])
        self.gap_ = each([s.gap for s in solutions])
