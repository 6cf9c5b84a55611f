"""A program to audit, in any language; here in Python: it reads requests and answers them, a JSON object a line.

    dp-oracle audit --cmd "python examples/audit_command.py" --epsilon 1 --delta 1e-5 --records 20 --dimension 2

It releases the mean of the labels plus Laplace noise of scale 1/n: with labels in [0, 1], replacing a record moves the
mean by at most 1/n, so that it is (1, 0)-DP.
"""

import json
import math
import random
import sys

datasets = {}
for line in sys.stdin:
    request = json.loads(line)
    if "labels" in request:  # a data set is sent once, with the first request that names it
        datasets[request["dataset"]] = request["labels"]
    labels = datasets[request["dataset"]]
    releases = []
    for seed in request["seeds"]:
        centred = random.Random(seed).random() - 0.5
        laplace = -math.copysign(math.log1p(-2 * abs(centred)), centred)
        releases.append(sum(labels) / len(labels) + laplace / len(labels))
    print(json.dumps({"id": request["id"], "dataset": request["dataset"], "releases": releases}), flush=True)
