"""How numbers are certified: contours, sampled pairs, splines and the like, without a bound of their own."""
