"""A search of scikit-learn over parameters, on the grid. Machines need scikit-learn."""

import joblib
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import mutirao.joblib

if __name__ == "__main__":
    mutirao.joblib.register()
    X, y = load_digits(return_X_y=True)
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.0001, 0.001, 0.01]}, cv=3, n_jobs=-1)
    with joblib.parallel_config("mutirao"):
        search.fit(X, y)
    print(f"best of 9: {search.best_params_}, score {search.best_score_:.3f}")
