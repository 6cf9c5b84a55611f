"""The bounds of sampled Gaussian steps, and the engines behind them: a file for each kind of step or sum."""
