"""Trainings that are not the algorithm, a file a family: in the batched twin, or in both twins."""
