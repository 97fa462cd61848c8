"""`DaskUBAUCClassifier`: the local estimator's parameters and attributes, rows on a cluster."""

import os
import uuid

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._classifier import UBAUCClassifier
from .._tabular import kinds_of
from .._weighted import _is_calibrated
from . import _data, _predict
from ._fit import Cluster, fit_problems


def _never(estimator):
    raise AttributeError("partial_fit is for rows in memory: use to_local(), or UBAUCClassifier")


class DaskUBAUCClassifier(UBAUCClassifier):
    """Scorer of high AUC, of rows on a Dask cluster, with the same certificate.

    The rows stay on the workers. The solver runs where `fit` is called and asks them for sums: some
    kilobytes a round, whatever the number of rows. A worker that dies is replaced by any other,
    which loads its partitions again and is sent what it missed: the answer is the same, to the last
    bit. It depends on the partitions, in the last digits, and not on the workers.

    Give each thread of a worker a partition or more: a partition is worked on by one thread.

    Parameters
    ----------
    client : distributed.Client, default=None
        Of the cluster; the current one if None.
    solver : {"batch", "online"}, default="batch"
        Newton steps to a certified minimum; or local SGD with averaging: every partition is learned
        example by example from the same weights, in a new order each time, and the weights are
        averaged by the number of examples, `max_iter` times (10 if None). How far that is from the
        minimum is certified too: `gap_`.
    beta, gamma, softness, least_squares, fit_intercept, scale, tol, max_iter, class_weight, \
time_limit, step, schedule, calibrate, eta0, radius, average_from, random_state
        As in :class:`ubauc.UBAUCClassifier`. "auto" chooses by cross-validated AUC over the rows of
        all partitions, in which each row counts once, whatever its weight. That takes a hundred
        fits or so: give `beta` and `gamma`, or a `time_limit`, where that is too long, or choose
        them on a sample. A fifth of the rows, ten million at most, is held out first and compares
        the choice with logistic regression.
        `calibrate` fits five times more, and brings the scores of held-out rows here, of ten
        million at most.
    features : {"linear", "additive", "pairs", "auto"}, default="linear"
        As in :class:`ubauc.UBAUCClassifier`, of data frames and dense arrays. Where bins are cut
        follows from counts, and pairs are ranked by sums over the rows of every partition: the map
        is that of one machine. "auto" tries several maps, each without each fold: give a
        `time_limit`, or name the map, where that is too long.
    interactions : int, float, str or list of pairs, default=None
        As in :class:`ubauc.UBAUCClassifier`.
    categorical_features : array-like of {bool, int, str}, "from_dtype" or None, \
default="from_dtype"
        As in :class:`ubauc.UBAUCClassifier`. What becomes of the columns of a data frame is learned
        from what every partition counts: it is the map of one machine, to the last bit.
    criterion : str, default="auc"
        As in :class:`ubauc.UBAUCClassifier`. For another one than "auc" the scores of a fold are
        brought here, of ten million rows at most.
    start : {"online"}, default=None
        Begin the batch solver from one epoch of the online one, where the softness is 0.
    n_jobs : int, default=None
        Threads of what is done where `fit` is called; workers use their own.
    verbose : int, default=0
        Above 0, show every step with its rounds.

    Attributes
    ----------
    rounds_ : dict
        Rounds asked, bytes sent and received, the largest answer of all partitions to one round,
        and how often a partition was sent again what it had missed.

    Notes
    -----
    All other attributes are those of :class:`ubauc.UBAUCClassifier`; `to_local` gives one of these.
    `effects_` and what goes with it are there for tables and wherever `features` are not linear;
    `eval_terms` and `explain` take rows in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from ubauc.dask import DaskUBAUCClassifier
    >>> client = Client(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    >>> X = da.random.default_rng(0).normal(size=(10_000, 5), chunks=(2_500, 5))
    >>> y = (X[:, 0] + X[:, 1] > 2).astype(int)
    >>> clf = DaskUBAUCClassifier(beta=0.5, gamma=1e-4).fit(X, y)
    >>> bool(clf.gap_ < 1e-6)
    True
    >>> clf.decision_function(X[:3]).compute().shape
    (3,)
    >>> client.close()
    """

    _parameter_constraints = {
        **UBAUCClassifier._parameter_constraints,
        "client": "no_validation",
        "start": [StrOptions({"online"}), None],
    }

    def __init__(
        self,
        client=None,
        *,
        solver="batch",
        features="linear",
        interactions=None,
        categorical_features="from_dtype",
        beta="auto",
        gamma="auto",
        softness="auto",
        least_squares="auto",
        fit_intercept=True,
        scale="auto",
        tol=None,
        max_iter=None,
        class_weight=None,
        criterion="auc",
        time_limit=None,
        calibrate=None,
        step="implicit",
        schedule="sqrt",
        eta0="auto",
        radius=None,
        average_from=2,
        start=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            solver=solver,
            features=features,
            interactions=interactions,
            categorical_features=categorical_features,
            beta=beta,
            gamma=gamma,
            softness=softness,
            least_squares=least_squares,
            fit_intercept=fit_intercept,
            scale=scale,
            tol=tol,
            max_iter=max_iter,
            class_weight=class_weight,
            criterion=criterion,
            time_limit=time_limit,
            calibrate=calibrate,
            step=step,
            schedule=schedule,
            eta0=eta0,
            radius=radius,
            average_from=average_from,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.client = client
        self.start = start

    def fit(self, X, y, sample_weight=None, groups=None):
        """Fit the scorer to rows on the cluster.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features), or dask dataframe
            Chunks of rows: arrays, or scipy CSR matrices. Of a data frame every column but those of
            `y`, `sample_weight` and `groups`.
        y : dask array or series of shape (n_samples,), or str
            Classes, in chunks like those of `X`; or the name of a column of `X`.
        sample_weight : dask array or series of shape (n_samples,), or str, default=None
            Weights, at least 0; or the name of a column of `X`.
        groups : dask array or series of shape (n_samples,), or str, default=None
            The group of each example, such as the patient of a visit, or the name of a column of
            `X`: as in :class:`ubauc.UBAUCClassifier`. A group may lie in several partitions. Where
            it belongs is decided here, by how many examples of each class it has, just as for rows
            in memory.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._validate_params()
        categorical = self.categorical_features
        loads = _data.loads_of_collections(X, y, sample_weight, _token(), categorical, groups)
        return self._fit_loads(loads)

    def fit_files(
        self,
        paths,
        *,
        format="auto",
        label="label",
        weight=None,
        groups=None,
        zero_based=False,
        n_features=None,
    ):
        """Fit the scorer to files that the workers read, a partition each.

        Parameters
        ----------
        paths : list of str or path-like
            svmlight files, plain or compressed, or Parquet files; all workers must see them.
        format : {"auto", "svmlight", "parquet"}, default="auto"
            "auto" tells Parquet by the end of the name, `.parquet` or `.pq`.
        label, weight, groups : str, default="label", None and None
            Parquet: the columns of the classes, weights and groups; all others are features.
        zero_based : bool, default=False
            svmlight: whether indices start at 0.
        n_features : int, default=None
            svmlight: the number of features; that of the largest index of all files if None.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._validate_params()
        if isinstance(paths, (str, os.PathLike)):
            raise TypeError("paths must be a list of files")
        columns = (label, weight, self.categorical_features, groups)
        paths = [os.fspath(path) for path in paths]
        loads = _data.loads_of_files(paths, format, columns, zero_based, _token())
        return self._fit_loads(loads, n_features=n_features)

    def _fit_loads(self, loads, n_features=None):
        features = self.features
        if (features, self.solver) == ("auto", "online"):
            # As for rows in memory: the online solver chooses no map.
            features = "linear"
        with Cluster(self.client, loads, n_features, features) as cluster:
            cluster.check_classes()
            self._columns_of_fit = cluster.column_names()
            try:
                self._interaction_choice()
                solutions, cost = fit_problems(self, cluster)
            finally:
                del self._columns_of_fit
        # All is well: until here the model, if there was one, is the old one.
        self.classes_ = cluster.classes
        self.n_features_in_ = cluster.cols
        self._kinds = self.is_categorical_ = None
        if cluster.maps is not None:
            self._set_kinds(kinds_of(solutions[0].features))
        if cluster.names is not None:
            self.feature_names_in_ = np.array(cluster.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.rounds_ = cost
        self._set(solutions)
        self._learners = None
        return self

    def _column_names(self):
        # Of the fit that is under way, if there is one.
        names = getattr(self, "_columns_of_fit", None)
        return super()._column_names() if names is None else names

    @available_if(_never)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Not available on a cluster."""

    def decision_function(self, X):
        """Scores, 0 or above where the positive class is predicted.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_samples, n_features), or anything in memory
            Examples.

        Returns
        -------
        scores : dask array of shape (n_samples,) or (n_samples, n_classes)
            Computed when asked for; for rows in memory an ndarray, at once.
        """
        check_is_fitted(self)
        return _predict.lazily(self.to_local(), "decision_function", X)

    def predict(self, X):
        """Classes of the examples.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_samples, n_features), or anything in memory
            Examples.

        Returns
        -------
        y : dask array of shape (n_samples,)
            Computed when asked for; for rows in memory an ndarray, at once.
        """
        check_is_fitted(self)
        return _predict.lazily(self.to_local(), "predict", X)

    @available_if(_is_calibrated)
    def predict_proba(self, X):
        """Probabilities of the classes, calibrated on held-out folds.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_samples, n_features), or anything in memory
            Examples.

        Returns
        -------
        p : dask array of shape (n_samples, n_classes)
            Computed when asked for; for rows in memory an ndarray, at once.
        """
        check_is_fitted(self)
        return _predict.lazily(self.to_local(), "predict_proba", X)

    def score(self, X, y, sample_weight=None):
        """AUC of the scores, exactly; the rows stay on the workers.

        So do the scores, if there are two classes and no weights. Of more classes it is Hand and
        Till's, and the scores are brought here, as they are with weights.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_samples, n_features), or anything in memory
            Examples.
        y : dask array or series of shape (n_samples,)
            Their classes.
        sample_weight : dask array or series of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        auc : float
            From 0 to 1; 1/2 is chance.
        """
        check_is_fitted(self)
        return _predict.score(self, X, y, sample_weight)

    def to_local(self):
        """The same fitted model as a :class:`ubauc.UBAUCClassifier`, which needs no cluster.

        Returns
        -------
        classifier : UBAUCClassifier
            Fitted.
        """
        check_is_fitted(self)
        params = self.get_params(deep=False)
        local = UBAUCClassifier(
            **{name: params[name] for name in UBAUCClassifier._get_param_names() if name in params}
        )
        names = ("classes_", "n_features_in_", "feature_names_in_", "is_categorical_", "_kinds")
        for name in names:
            if hasattr(self, name):
                setattr(local, name, getattr(self, name))
        local._set(self._solutions)
        local._learners = None
        return local

    def __sklearn_clone__(self):
        # A client is not to be copied.
        return type(self)(**self.get_params(deep=False))

    def __getstate__(self):
        # Nor does it travel.
        return {**super().__getstate__(), "client": None}


def _token():
    return uuid.uuid4().hex[:12]
