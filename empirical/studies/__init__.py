"""Studies: the predicted utility rates, held to runs and exact curves under rules that were frozen before."""
