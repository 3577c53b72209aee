// Package mlflow writes runs in the layout of MLflow's file store, mlruns.
//
// Experiments and runs with their metrics, parameters and tags go in; folders and
// small files come out, in a folder that this package made and marked. Nothing that
// is there is changed, apart from a run that it wrote before and that has been
// measured again since. It knows neither steps nor figures.
package mlflow
