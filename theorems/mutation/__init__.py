"""Machine-made false variants of what claims say: a checker that calls one true looks at less than it tells."""
