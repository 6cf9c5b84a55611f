"""What several families use: linear models, links, minimisers, data sets of a constant size."""
